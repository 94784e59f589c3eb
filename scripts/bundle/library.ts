import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import { fileURLToPath } from "node:url"
import { bundle, compiled, manifest, ROOT, THREADS } from "./compose.ts"
import { copyDeclarations } from "./declarations.ts"

/** The library, as package.json exports it. */

/** The entries in this folder of build, each by its file in src without the ending. */
const entriesIn = (folder: string): ReadonlyArray<string> =>
  Object.values(manifest.exports)
    .flatMap((entry) => typeof entry === "string" ? [] : [entry.default])
    .filter((file) => file.startsWith(`./build/${folder}/`))
    .map((file) => file.slice(`./build/${folder}/`.length, -".js".length))

/**
 * The packages that are dependencies of svcd: an application shares its own copies, and `npm audit` knows them. The client of
 * `names.db` stays inside: its package asks for a better-sqlite3 that installs with a compiler (docs/decisions/0011).
 */
const shared = (): ReadonlyArray<string> => Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })

/** What an application without Effect does not need to have. */
const isOfEffect = (name: string): boolean => name === "effect" || name.startsWith("@effect/")

/** The files that a file of a bundle loads at once. */
const loadedWith = (folder: string, file: string): ReadonlyArray<string> =>
  Array.from(
    readFileSync(join(folder, file), "utf8").matchAll(/^(?:import|export|\})[^;\n]*?"\.\.?\/([^"\n]+)";?$/gm),
    ([, name = ""]) => name
  )

/**
 * Leaves the maps, which have the sources, to the files that these entries load at once. The others, a node above all, are three
 * quarters of the text, and readable without: only their comments are gone.
 */
const keepMapsOf = (folder: string, entries: ReadonlyArray<string>): void => {
  const kept = new Set(entries.map((entry) => `${entry}.js`))
  for (const file of kept) for (const name of loadedWith(folder, file)) kept.add(name)
  for (const file of readdirSync(folder).filter((name) => name.endsWith(".js") && !kept.has(name))) {
    rmSync(join(folder, `${file}.map`), { force: true })
    const text = readFileSync(join(folder, file), "utf8")
    writeFileSync(join(folder, file), text.replace(/^\/\/# sourceMappingURL=.*$\n?/m, ""))
  }
}

/** Entries as esbuild takes them. They keep their folder. */
const placed = (entries: ReadonlyArray<string>) => entries.map((entry) => ({ in: compiled(entry), out: entry }))

/**
 * Parts of `svcd/verify` that a bundler takes one by one: as entries, which package.json does not export, they are in files of their
 * own, and what an application does not import is left out as a whole.
 */
const PARTS = [
  { in: compiled("dns/recordsOfValue"), out: "verify/records" },
  { in: compiled("values/nostr"), out: "verify/identity" },
  { in: compiled("verify/resolve"), out: "verify/resolve" },
  { in: compiled("verify/verifyNameProof"), out: "verify/verifyNameProof" }
]

/** The entry that is a node. */
const NODE = "node"

/**
 * The library. Each module of svcd is in one file for all entries, and what is imported on use alone (a node, a wallet) is in files of
 * its own; some fifty files load in a fraction of the time that a thousand take. `svcd/promise` runs without effect in an
 * application: it has its own inside.
 */
export const bundleLibrary = (build: string, isTyped: boolean): void => {
  for (const name of ["lib", "promise", "verify", "native"]) rmSync(join(build, name), { force: true, recursive: true })
  const threads = THREADS.map((thread) => ({ in: thread, out: basename(thread, ".js") }))
  // What is imported at once runs in a browser too, where the module of the banner does not exist.
  const library = { banner: {}, entryNames: "[dir]/[name]", sourcesContent: true, splitting: true }
  bundle(join(build, "lib"), {
    ...library,
    entryPoints: [...placed(entriesIn("lib")), ...threads],
    external: [...shared()]
  })
  keepMapsOf(join(build, "lib"), entriesIn("lib").filter((entry) => entry !== NODE))
  bundle(join(build, "promise"), {
    ...library,
    entryPoints: [...placed(entriesIn("promise")), ...threads],
    minifySyntax: true,
    minifyWhitespace: true,
    external: shared().filter((name) => !isOfEffect(name))
  })
  // By itself: in files that it shares with a node, a verifier would be twice as large.
  bundle(join(build, "verify"), {
    ...library,
    entryPoints: [...placed(entriesIn("verify")), ...PARTS],
    external: [...shared()]
  })
  if (!isTyped) return
  copyDeclarations({
    entries: [...entriesIn("lib"), ...entriesIn("promise"), ...entriesIn("verify")],
    source: fileURLToPath(new URL("../../src", import.meta.url)),
    target: join(build, "types")
  })
}

/**
 * libsecp256k1 as its package has it built, for three platforms. Its package itself is large, and fails to install on any
 * other platform without a compiler.
 */
export const copyNativeCurve = (build: string): void => {
  const folder = join(build, "native/secp256k1")
  bundle(folder, {
    banner: {},
    entryPoints: { index: join(ROOT, "node_modules/secp256k1/bindings.js") },
    format: "cjs",
    outExtension: { ".js": ".cjs" },
    sourcemap: false
  })
  cpSync(join(ROOT, "node_modules/secp256k1/prebuilds"), join(folder, "prebuilds"), { recursive: true })
}
