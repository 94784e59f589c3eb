// Bundles the programs, each behind a small file that checks the version of Node.js: loading a thousand modules is half of the work of a
// start. Bundles the library too. `npm run build` calls this after the compiler.
// Usage: bundle.js FOLDER [--programs | --untyped | --alone FILE], below the packages that the programs load. The library goes into the
// folders `lib`, `promise`, `types` and `native` beside FOLDER, unless an option is given. --untyped leaves out `types`, where the
// compiler wrote none. --alone bundles another program.

import { createHash } from "node:crypto"
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { basename, dirname, join, resolve } from "node:path"
import process from "node:process"
import { COMMAND_NAMES } from "../src/programs/cli/commandTable.ts"
import { CONTRACTS } from "../src/rpc/contract/all.ts"
import { argumentsOf } from "../src/rpc/method/argumentMarks.ts"
import { isShown } from "../src/rpc/method/contract.ts"
import { compiled, compose, manifest, THREADS, writeLicences } from "./bundle/compose.ts"
import { bundleLibrary, copyNativeCurve } from "./bundle/library.ts"

const PROGRAMS = ["svcd", "svcd-cli", "svcd-wallet", "svcd-mail", "svcd-export"]

const { bin, engines } = manifest

/**
 * Programs whose compiled code is kept for the next start, with the file between the two: svcd-cli runs for a moment, many times, and
 * an application may wait for a node that starts.
 */
const KEPT: Readonly<Record<string, { readonly file: string; readonly run: string }>> = {
  "svcd": { file: "bin/svcdStart", run: "runSvcd" },
  "svcd-cli": { file: "bin/cachedStart", run: "runCached" }
}

/** The one of them that has commands, and is short enough to have short names too: reports of errors of a node show the names. */
const SHORT = "svcd-cli"

/** The file behind the one that a user starts. */
const mainOf = (program: string): string => `${program}.main`

/**
 * The file that a user starts, as package.json names it. That of svcd-cli is in CommonJS: to load Node's loader of ES modules takes 5 ms
 * of processor time, a twentieth of a call.
 */
const fileOf = (program: string): string => {
  const path = bin[program]
  if (path === undefined) throw new Error(`package.json names no program ${program} under "bin"`)
  return basename(path)
}

/**
 * The file between the two, for a program whose compiled code is kept, without its ending. It is in CommonJS: the loader of
 * modules takes longer for Node's own modules.
 */
const startOf = (program: string): string => `${program}.start`

/**
 * What a user starts: it tells an older Node.js apart, where the program itself would end with an error of the loader. So
 * it uses nothing that is new. It takes the global `process`: to import it opens all standard streams. `kept` is what the file between
 * gets of a program whose compiled code is kept.
 */
const launcher = (
  program: string,
  kept?: { readonly run: string; readonly digest: string; readonly commands: ReadonlyArray<string> }
): string => {
  const oldest = engines.node.replace(/^>=/, "")
  const [major, minor] = oldest.split(".")
  const isCommonJs = fileOf(program).endsWith(".cjs")
  const [imports, require, path] = kept === undefined || isCommonJs
    ? ["", "require", "__filename"]
    : [
      `import { createRequire } from "node:module";\nimport { fileURLToPath } from "node:url";\n`,
      "createRequire(import.meta.url)",
      "fileURLToPath(import.meta.url)"
    ]
  const load = kept === undefined
    ? `import("./${mainOf(program)}.js")`
    : `new Promise((resolve) => resolve(${require}("./${startOf(program)}.cjs").${kept.run}({ file: ${path}, ...${
      JSON.stringify({ digest: kept.digest, commands: kept.commands })
    } }).running))`
  return `#!/usr/bin/env node
${isCommonJs ? `"use strict";\n` : imports}const [major, minor] = process.versions.node.split(".").map(Number);
if (major > ${major} || (major === ${major} && minor >= ${minor})) {
  ${load}.catch((error) => {
    const [, missing] = /^Cannot find (?:package|module) '([^'/\\\\]+|@[^'/\\\\]+\\/[^'/\\\\]+)'/.exec(error.message) || [];
    const noMain = error.code === "ENOENT" && /${program}\\.main\\.cjs$/.test(error.path);
    if (!noMain && !/^(?:ERR_)?MODULE_NOT_FOUND$|^ERR_DLOPEN_FAILED$/.test(error.code)) throw error;
    const what = error.code === "ERR_DLOPEN_FAILED" ? "the native part of a package cannot be loaded" : missing === undefined ? "a file of svcd is missing" : "the package " + missing + " is missing";
    console.error("${program}: " + what + ": run \\"npm install\\" where svcd is installed, or install svcd again");
    process.exitCode = 1;
  });
} else {
  console.error(\`${program}: Node.js ${oldest} or newer is needed, and this is \${process.versions.node}: install a newer one (https://nodejs.org), or the archive of svcd, which has its own\`);
  process.exitCode = 1;
}
`
}

const entryOf = (program: string) => ({ in: compiled(`bin/${program}`), out: mainOf(program) })

/**
 * Bundles such a program into one file in CommonJS, the only form whose compiled code a program can keep (bin/cachedStart.ts). What
 * it loads on use is in the same file, and costs nothing before.
 */
const composeKept = (
  folder: string,
  program: string,
  { file, run }: { readonly file: string; readonly run: string }
): ReadonlyArray<string> => {
  const isShort = program === SHORT
  compose(folder, {
    banner: {},
    entryPoints: [{ in: compiled(file), out: startOf(program) }],
    format: "cjs",
    minify: true,
    outExtension: { ".js": ".cjs" },
    sourcemap: false
  })
  // Any statement before esbuild's own directive disables it. svcd-cli hardly needs its address.
  const url =
    `"use strict";\nconst ofBundle = { get url() { return require("node:url").pathToFileURL(__filename).href; } };`
  const clock = `const clockOfBundle = { now: () => Number(process.hrtime.bigint()) / 1e6 };`
  const packages = compose(folder, {
    banner: { js: isShort ? `${url}\n${clock}` : url },
    // Node's own clock of this name loads its tools for measurements, some milliseconds.
    define: { "import.meta.url": "ofBundle.url", ...isShort ? { performance: "clockOfBundle" } : {} },
    entryPoints: [entryOf(program)],
    format: "cjs",
    minifyIdentifiers: isShort,
    minifySyntax: true,
    minifyWhitespace: true,
    outExtension: { ".js": ".cjs" },
    // Kept code loads what is not inside by require: an import would need an experimental option.
    supported: { "dynamic-import": false }
  })
  const text = readFileSync(join(folder, `${mainOf(program)}.cjs`))
  if (!/^(?:#!.*\n)?"use strict";/.test(text.toString("latin1"))) {
    throw new Error(`${program} would not run in strict mode: its bundle must begin with "use strict"`)
  }
  const missing = /clockOfBundle\.(?!now\b)\w+/.exec(text.toString("latin1"))
  if (missing !== null) throw new Error(`${program} needs ${missing[0]}: give its clock that member`)
  const digest = createHash("sha256").update(text).digest("hex")
  const commands = isShort ? COMMAND_NAMES : []
  writeFileSync(join(folder, fileOf(program)), launcher(program, { run, digest, commands }), { mode: 0o755 })
  return packages
}

/** The layers of `NameClient`, which load a whole node on use: for programs it is a tag alone. */
const CLIENTS = compiled("node/clients")

/** Programs with their threads. Returns the folders of the packages that are inside. */
const composeMains = (
  folder: string,
  mains: ReadonlyArray<{ readonly in: string; readonly out: string }>,
  external: ReadonlyArray<string> = []
): ReadonlyArray<string> => {
  const threads = THREADS.map((thread) => ({ in: thread, out: basename(thread, ".js") }))
  // The text of a program stays in memory as long as it runs. Names are kept: reports of errors show them.
  return compose(folder, {
    entryPoints: [...mains, ...threads],
    external: [...external],
    minifySyntax: true,
    minifyWhitespace: true,
    splitting: true
  })
}

/** Puts the texts of all arguments in place of the module that computes them from the contracts, which svcd-cli would load. */
const writeArguments = (): void => {
  const shown = CONTRACTS.filter(isShown).map(({ name }) => name)
  writeFileSync(
    compiled("rpc/contract/arguments"),
    `export const ARGUMENTS = ${JSON.stringify(argumentsOf(CONTRACTS))};\nexport const SHOWN_METHODS = ${
      JSON.stringify(shown)
    };\n`
  )
}

const bundlePrograms = (folder: string): void => {
  // A build before this one has other files.
  rmSync(folder, { force: true, recursive: true })
  mkdirSync(folder, { mode: 0o755, recursive: true })
  const others = PROGRAMS.filter((program) => KEPT[program] === undefined)
  const kept = Object.entries(KEPT).flatMap(([program, start]) => composeKept(folder, program, start))
  writeLicences(folder, [...new Set([...kept, ...composeMains(folder, others.map(entryOf), [CLIENTS])])])
  for (const program of others) writeFileSync(join(folder, fileOf(program)), launcher(program), { mode: 0o755 })
}

const [folder, option, file, ...others] = process.argv.slice(2)
const isKnown = option === undefined || (option === "--programs" || option === "--untyped") && file === undefined ||
  option === "--alone" && file !== undefined
// A flag in place of the folder, as --help, would bundle beside the sources.
if (folder === undefined || folder.startsWith("-") || !isKnown || others.length > 0) {
  throw new Error("usage: bundle.js FOLDER [--programs | --untyped | --alone FILE]")
}
writeArguments()
if (file === undefined) bundlePrograms(folder)
else composeMains(folder, [{ in: resolve(file), out: basename(file, ".js") }])
if (option === undefined || option === "--untyped") {
  bundleLibrary(dirname(resolve(folder)), option === undefined)
  copyNativeCurve(dirname(resolve(folder)))
}
