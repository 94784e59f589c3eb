import { assert } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { withDirectory } from "./temporary.ts"

const BASH = "/bin/bash"

export const hasBash = existsSync(BASH)

/** The completions that bash offers, by a program's script, for the last of some words. */
export const offers = (
  script: string,
  lines: ReadonlyArray<ReadonlyArray<string>>
): ReadonlyArray<ReadonlyArray<string>> =>
  withDirectory((directory) => {
    const file = join(directory, "completions")
    writeFileSync(file, script)
    const tries = lines.map((words) => {
      const quoted = words.map((word) => `'${word}'`).join(" ")
      const last = words.length - 1
      return `COMP_WORDS=(${quoted}); COMP_CWORD=${last}; COMPREPLY=()
        handler=$(complete -p ${words[0]} | sed 's/.* -F \\([^ ]*\\) .*/\\1/')
        $handler ${words[0]} "\${COMP_WORDS[${last}]}" "\${COMP_WORDS[${last - 1}]}"; echo "\${COMPREPLY[*]}"`
    })
    const { status, stderr, stdout } = spawnSync(BASH, ["-c", `source '${file}'\n${tries.join("\n")}`], {
      encoding: "utf8",
      cwd: directory
    })
    assert.strictEqual(status, 0, stderr)
    return stdout.split("\n").slice(0, -1).map((line) => line.split(" ").filter((word) => word !== ""))
  })
