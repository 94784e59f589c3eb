// The files of an installation, as they are in the archive and below /usr of the other packages.

import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileOf, programs, PROJECT, run } from "./facts.mjs"
import { writeManual } from "./manual.mjs"
import { runtime } from "./runtime.mjs"

const BUILT = join(PROJECT, "build/bin")

/**
 * The build of zeromq that its loader takes first in a clone, which is the one that the tests use: that of the newest ABI. It
 * runs in any Node.js with Node-API; those for older ABIs need a newer C library than that of Debian 12.
 */
const addonOf = (zeromq) => {
  const manifest = JSON.parse(readFileSync(join(zeromq, "build/manifest.json"), "utf8"))
  const builds = Object.keys(manifest).map((key) => ({ key, ...JSON.parse(key) }))
    .filter(({ arch, libc, os }) => os === "linux" && arch === "x64" && libc === "glibc")
    .sort((a, b) => b.abi - a.abi)
  if (builds.length === 0) throw new Error(`${zeromq} has no build for Linux on x64`)
  return { key: builds[0].key, file: manifest[builds[0].key] }
}

/** What programs load at run time, with the files of each that they need on Linux on x64: no sources, no other platform. */
const NATIVE = {
  "better-sqlite3": ["package.json", "LICENSE", "lib", "prebuilds/linux-x64.node"],
  "zeromq": ["package.json", "LICENSE.txt", "LICENSE_MPL-2.0.txt", "lib"],
  "cmake-ts": ["package.json", "build/loader.js"]
}

const DOCUMENTS = ["README.md", "CHANGELOG.md", "LICENSE"]

const write = (path, text, mode = 0o644) => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text, { mode })
}

/** The program finds its files from its own place: the archive may lie anywhere, and links to it work. */
const launcher = (program) =>
  `#!/bin/sh
home=$(dirname "$(readlink -f "$0")")/../lib/svcd
exec "$home/node" "$home/bin/${fileOf(program)}" "$@"
`

/** No declarations of types, and no maps of code that is not ours. */
const isRun = (path) => !/\.(d\.[cm]?ts|tsbuildinfo|m?js\.map)$/.test(path)

/** The loader reads a manifest, and complains of each entry whose file is missing. */
const copyAddon = (modules) => {
  const from = join(PROJECT, "node_modules/zeromq")
  const { file, key } = addonOf(from)
  cpSync(join(from, "build", file), join(modules, "zeromq/build", file))
  write(join(modules, "zeromq/build/manifest.json"), JSON.stringify({ [key]: file }))
}

const copyCode = (lib) => {
  cpSync(runtime.program, join(lib, "node"))
  cpSync(BUILT, join(lib, "bin"), { recursive: true })
  write(join(lib, "package.json"), "{ \"type\": \"module\" }\n")
  for (const [name, files] of Object.entries(NATIVE)) {
    for (const file of files) {
      const from = join(PROJECT, "node_modules", name, file)
      if (!existsSync(from)) throw new Error(`${from} is missing: npm ci`)
      cpSync(from, join(lib, "node_modules", name, file), { recursive: true, filter: isRun })
    }
  }
  copyAddon(join(lib, "node_modules"))
  const curve = "native/secp256k1"
  for (const file of ["index.cjs", "LICENCES.txt", "prebuilds/linux-x64"]) {
    cpSync(join(PROJECT, "build", curve, file), join(lib, curve, file), { recursive: true })
  }
}

const SHELLS = {
  bash: (program) => `bash-completion/completions/${program}`,
  zsh: (program) => `zsh/vendor-completions/_${program}`,
  fish: (program) => `fish/vendor_completions.d/${program}.fish`
}

const writeCompletions = (share) => {
  for (const program of programs) {
    const script = join(BUILT, fileOf(program))
    // svcd-export prints no completions.
    if (program === "svcd-export") continue
    for (const [shell, file] of Object.entries(SHELLS)) {
      write(join(share, file(program)), run(process.execPath, [script, "--completions", shell]))
    }
  }
}

const copyDocuments = (tree) => {
  const folder = join(tree, "share/doc/svcd")
  for (const file of DOCUMENTS) cpSync(join(PROJECT, file), join(folder, file))
  const filter = (source) => !source.endsWith("pictures")
  for (const file of ["docs", "contrib"]) cpSync(join(PROJECT, file), join(folder, file), { recursive: true, filter })
  cpSync(runtime.licence, join(folder, "LICENSE.node"))
}

/** Writes all files of an installation below a folder. */
export const stageTree = async (tree) => {
  for (const program of programs) write(join(tree, "bin", program), launcher(program), 0o755)
  copyCode(join(tree, "lib/svcd"))
  await writeManual(join(tree, "share/man"))
  writeCompletions(join(tree, "share"))
  copyDocuments(tree)
  for (const unit of readdirSync(join(PROJECT, "contrib/systemd"))) {
    const text = readFileSync(join(PROJECT, "contrib/systemd", unit), "utf8")
    if (unit.endsWith(".service")) write(join(tree, "lib/systemd/system", unit), text)
    else write(join(tree, "lib/sysusers.d/svcd.conf"), text)
  }
}
