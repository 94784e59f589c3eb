import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { gunzipSync } from "node:zlib"

/** The project's root: compiled, this file is in `build`. */
const ROOT = fileURLToPath(new URL("../../", import.meta.url)).replace(/\bbuild.$/u, "")

/** The companions beside the project's root; a stranger's clone does not have them. */
const SHARED = join(ROOT, "../shared/fixtures/")

/** Data that belongs to this repository. */
const OWN = join(ROOT, "test/fixtures/")

/** Whether the shared fixtures are there. Tests that need them skip visibly where they are not. */
export const hasShared = existsSync(SHARED)

const find = (root: string, name: string): string | undefined =>
  [root + name, `${root}${name}.gz`].find((path) => existsSync(path))

/** The path of a shared fixture, with or without `.gz`, or `undefined` where it is not there. */
export const sharedFixture = (name: string): string | undefined => find(SHARED, name)

/** The path of a fixture of this repository. */
export const ownFixture = (name: string): string => {
  const path = find(OWN, name)
  if (path === undefined) throw new Error(`the fixture ${name} is not in test/fixtures`)
  return path
}

/** The content of a fixture file, unpacked where it is gzipped: this repository's own, else a shared one. */
export const fixtureBytes = (name: string): Buffer => {
  const path = find(OWN, name) ?? sharedFixture(name)
  if (path === undefined) throw new Error(`the fixture ${name} is neither in test/fixtures nor in shared/fixtures`)
  const bytes = readFileSync(path)
  return path.endsWith(".gz") ? gunzipSync(bytes) : bytes
}

export const fixtureText = (name: string): string => fixtureBytes(name).toString("utf8")

/** A fixture as JSON. The caller states the shape; fixtures are trusted data. */
export const fixtureJson = <A>(name: string): A => JSON.parse(fixtureText(name))
