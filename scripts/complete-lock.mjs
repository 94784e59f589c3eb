// Adds to package-lock.json the packages of other platforms, which npm leaves out where a registry lacks them; `npm ci`
// refuses a lock without them. With --integrity it asks npm for the missing hashes, which a registry with the packages
// of every platform has. Usage: complete-lock.mjs [--check | --integrity] [file]

import { spawnSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { check: { type: "boolean" }, integrity: { type: "boolean" } }
})
const file = positionals[0] ?? fileURLToPath(new URL("../package-lock.json", import.meta.url))
const lock = JSON.parse(readFileSync(file, "utf8"))

const SYSTEMS = ["aix", "android", "darwin", "freebsd", "linux", "netbsd", "openbsd", "openharmony", "sunos", "win32"]
const LIBC = { gnu: "glibc", glibc: "glibc", gnueabihf: "glibc", musl: "musl", musleabihf: "musl" }

/** The paths where a package that `from` depends on is searched, from the nearest folder outwards. */
const findPackage = (from, name) => {
  for (let folder = from;; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("/node_modules/")))) {
    const path = folder === "" ? `node_modules/${name}` : `${folder}/node_modules/${name}`
    if (lock.packages[path] !== undefined) return lock.packages[path]
    if (folder === "") return undefined
  }
}

/** The platform in a package's name: `@rollup/rollup-linux-arm64-musl`. */
const platformOf = (name) => {
  const words = name.slice(name.indexOf("/") + 1).split("-")
  const at = words.findIndex((word) => SYSTEMS.includes(word))
  if (at < 0) return name === "fsevents" ? { os: ["darwin"] } : undefined
  const [os, cpu, abi] = words.slice(at)
  const libc = os === "linux" ? LIBC[abi] : undefined
  return { cpu: [cpu], ...(libc === undefined ? {} : { libc: [libc] }), os: [os] }
}

/** The exact version of a range: `2.3.3` for `2.3.3` and `~2.3.3`; other ranges name no version. */
const versionOf = (range) => /^~?(\d+\.\d+\.\d+)$/.exec(range)?.[1]

const isNewer = (a, b) => a.localeCompare(b, "en", { numeric: true }) > 0

/** The fields in npm's order, so that the next run of npm changes nothing. */
const asNpmWrites = ({ cpu, dev, libc, optional, os, version }) => ({
  version,
  ...(cpu === undefined ? {} : { cpu }),
  ...(dev ? { dev } : {}),
  ...(libc === undefined ? {} : { libc }),
  optional,
  os
})

const missing = new Map()
for (const [path, { dev = false, optionalDependencies = {} }] of Object.entries(lock.packages)) {
  for (const [name, range] of Object.entries(optionalDependencies)) {
    if (findPackage(path, name) !== undefined) continue
    const version = versionOf(range)
    const platform = platformOf(name)
    if (version === undefined || platform === undefined) throw new Error(`${path}: what is ${name} ${range}?`)
    const other = missing.get(name)
    const latest = other === undefined || isNewer(version, other.version) ? version : other.version
    missing.set(name, { version: latest, dev: dev && other?.dev !== false, optional: true, ...platform })
  }
}

const save = (packages) => writeFileSync(file, `${JSON.stringify({ ...lock, packages }, null, 2)}\n`)

/** The hash of a published package as npm prints it; `undefined` where its registry lacks the package. */
const publishedIntegrity = (name, version) => {
  const { error, stdout } = spawnSync("npm", ["view", `${name}@${version}`, "dist.integrity"], { encoding: "utf8" })
  if (error !== undefined) throw error
  return /^sha512-[A-Za-z0-9+/]+=*$/.exec(stdout.trim())?.[0]
}

if (values.integrity) {
  const entries = Object.entries(lock.packages).map(([path, entry]) => {
    if (path === "" || entry.integrity !== undefined) return [path, entry]
    const { version, ...others } = entry
    const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length)
    const integrity = publishedIntegrity(name, version)
    if (integrity !== undefined) return [path, { version, integrity, ...others }]
    console.error(`the registry lacks ${name}@${version}`)
    process.exitCode = 1
    return [path, entry]
  })
  save(Object.fromEntries(entries))
} else if (values.check) {
  for (const name of missing.keys()) console.error(`package-lock.json lacks ${name}`)
  process.exitCode = missing.size === 0 ? 0 : 1
} else if (missing.size > 0) {
  const added = Array.from(missing, ([name, entry]) => [`node_modules/${name}`, asNpmWrites(entry)])
  const all = [...Object.entries(lock.packages), ...added].sort(([a], [b]) => a.localeCompare(b, "en"))
  save(Object.fromEntries(all))
  console.log(`added ${missing.size} packages of other platforms`)
}
