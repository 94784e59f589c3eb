// Archives with the same bytes for the same files.

import { renameSync } from "node:fs"
import { join } from "node:path"
import { commitTime, run, settle } from "./facts.mjs"

/**
 * Packs a folder, or only what is inside it, in the order of the names and as files of root. Returns the path.
 * A name that ends in .gz is compressed. `special` are empty folders with another owner or mode.
 */
export const makeArchive = ({ file, folder, inside = false, name, special = [] }) => {
  const path = join(folder, name)
  settle(path)
  const plain = file.replace(/\.gz$/, "")
  const same = ["--file", plain, "--sort=name", "--format=ustar", `--mtime=@${commitTime()}`, "--numeric-owner"]
  run("tar", [
    ...["--create", ...same, "--owner=0", "--group=0", ...special.map((entry) => `--exclude=${entry.path}`)],
    ...(inside ? ["--directory", path, "."] : ["--directory", folder, name])
  ])
  for (const entry of special) {
    const traits = [`--owner=${entry.owner}`, `--group=${entry.owner}`, `--mode=${entry.mode}`]
    run("tar", ["--append", ...same, ...traits, "--no-recursion", "--directory", path, entry.path])
  }
  if (file !== plain) {
    run("gzip", ["--no-name", "--force", "-6", plain])
    renameSync(`${plain}.gz`, file)
  }
  return file
}
