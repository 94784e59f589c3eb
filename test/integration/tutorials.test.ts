import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn, spawnSync } from "node:child_process"
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { temporaryDirectory } from "../support/chain.ts"
import { freePort, program } from "../support/daemon.ts"

/**
 * Runs the tutorials as a reader does: all `sh` blocks of a page in one shell, with the programs of the build. The `text`
 * block after an `sh` block is its whole output, line by line; without one, the commands print nothing. What differs from
 * run to run is a placeholder of `PLACEHOLDERS`. Blocks of other languages are not run.
 */

const ROOT = fileURLToPath(new URL("../../", import.meta.url))
const TUTORIALS = ["owner", "cold-keys", "operator", "application-author", "resolver"]
const PROGRAMS = ["svcd", "svcd-cli", "svcd-wallet"]

/** Longer than a tutorial takes on a busy machine, and shorter than a test may take: a shell that waits must be stopped. */
const TIME_LIMIT = "150 seconds"

const MARK = "@@block"
const FAILED = "@@failed"

const isMissing = (command: string): boolean => spawnSync(command, ["-h"]).error !== undefined

const missing = ["bash", "curl"].filter(isMissing)

/** What single tutorials need besides. */
const NEEDED: Readonly<Record<string, ReadonlyArray<string>>> = { resolver: ["unbound", "dig"] }

interface Step {
  readonly commands: string
  /** What the commands print, as the page shows it. */
  readonly output: string
}

/** What may differ between two runs, and its form. Anything else in the output of a page is compared as it is. */
const PLACEHOLDERS: Readonly<Record<string, RegExp>> = {
  "<address>": /[1-9A-HJ-NP-Za-km-z]{26,35}|ncrt1[02-9ac-hj-np-z]{39,59}/,
  "<amount>": /\d+\.\d+/,
  "<datadir>": /\/\S+/,
  "<duration>": /\d+ (?:second|minute|hour|day|month|year)s?(?: \d+ [a-z]+)?/,
  "<hash>": /[0-9a-f]{64}/,
  "<height>": /\d+/,
  "<index>": /\d+/,
  "<key>": /[A-Za-z0-9+/]{86}==/,
  "<seconds>": /\d+/,
  "<time>": /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/,
  "<version>": /\d+\.\d+\.\d+\S*/,
  "<words>": /[a-z]+(?: [a-z]+){11}/
}

const stepsOf = (markdown: string): ReadonlyArray<Step> => {
  const steps: Array<{ commands: string; output: string }> = []
  let follows = false
  for (const [, language, text = ""] of markdown.matchAll(/^```(\w*)\n(.*?)^```$/gms)) {
    const last = steps.at(-1)
    if (language === "sh") steps.push({ commands: text, output: "" })
    else if (language === "text" && follows && last !== undefined) last.output = text
    follows = language === "sh"
  }
  return steps
}

const literal = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")

/** The width of a column depends on what is in it: two spaces or more match as many as there are. */
const patternOf = (output: string): RegExp => {
  const parts = output.split(/(<[a-z]+>| {2,}| *\n)/)
  const patterns = parts.map((part) =>
    PLACEHOLDERS[part]?.source.replace(/^.*$/, "(?:$&)") ??
      (part.endsWith("\n") ? " *\n" : part.startsWith("  ") ? " {2,}" : literal(part))
  )
  return new RegExp(`^${patterns.join("")}$`)
}

const PORTS = ["18336", "9332", "5391", "5392", "8080"]

/** The ports of the pages, and those that are free here. */
type Ports = ReadonlyArray<readonly [string, string]>

const script = (steps: ReadonlyArray<Step>, ports: Ports): string => {
  const blocks = steps.map(({ commands }) => `echo '${MARK}'\n${commands}`)
  const text = ["exec 2>&1", "set -E", `trap 'echo ${FAILED}' ERR`, ...blocks].join("\n")
  return ports.reduce((known, [shown, free]) => known.replaceAll(new RegExp(`\\b${shown}\\b`, "g"), free), text)
}

/** Runs a script to its end, or stops it with everything that it started. */
const output = (text: string, options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv }) =>
  Effect.async<string>((resume) => {
    const shell = spawn("bash", ["-c", text], { ...options, detached: true, stdio: ["ignore", "pipe", "inherit"] })
    let said = ""
    shell.stdout.setEncoding("utf8").on("data", (piece: string) => void (said += piece))
    shell.once("close", () => resume(Effect.succeed(said)))
    return Effect.sync(() => {
      if (shell.pid !== undefined) process.kill(-shell.pid, "SIGKILL")
    })
  })

/** What svcd-cli says where a start takes more than three seconds, as on a busy machine: before or after svcd listens. */
const SLOW_START = /^svcd-cli: waiting (?:for a|until the) daemon at .*\n/gm

/** What bash itself says of a program that a page kills. */
const KILLED = /^bash: line \d+: +\d+ Killed .*\n/gm

const runTutorial = (name: string) =>
  Effect.gen(function*() {
    const steps = stepsOf(readFileSync(join(ROOT, `docs/tutorials/${name}.md`), "utf8"))
    assert.isNotEmpty(steps)
    const folder = yield* temporaryDirectory
    const ports = yield* Effect.forEach(PORTS, (port) => Effect.map(freePort, (free) => [port, String(free)] as const))
    // The programs as they are installed.
    const bin = join(folder, "bin")
    mkdirSync(bin)
    for (const each of PROGRAMS) {
      writeFileSync(join(bin, each), `#!/bin/sh\nexec "${process.execPath}" "${program(each)}" "$@"\n`)
      chmodSync(join(bin, each), 0o755)
    }
    // In place of `npm install`.
    mkdirSync(join(folder, "node_modules"))
    symlinkSync(ROOT, join(folder, "node_modules/svcd"))
    symlinkSync(join(ROOT, "node_modules/effect"), join(folder, "node_modules/effect"))
    const env = { PATH: `${bin}:${process.env["PATH"] ?? ""}`, HOME: folder, TMPDIR: folder, LANG: "C.UTF-8" }
    const said = (yield* output(script(steps, ports), { cwd: folder, env })).split(`${MARK}\n`).slice(1)
    const wrong = steps.flatMap(({ commands, output: expected }, at) => {
      const text = said[at]
      if (text === undefined) return [`not reached:\n${commands}`]
      const shown = ports.reduce(
        (known, [port, free]) => known.replaceAll(`127.0.0.1:${free}`, `127.0.0.1:${port}`),
        text.replaceAll(`${FAILED}\n`, "").replaceAll("\r\n", "\n").replaceAll(/\t+/g, "  ").replaceAll(SLOW_START, "")
          .replaceAll(KILLED, "")
      )
      // A block whose output is an error may fail.
      const failed = text.includes(FAILED) && !/error/i.test(expected)
      return failed || !patternOf(expected).test(shown)
        ? [`${failed ? "failed" : "printed something else"}:\n${commands}-- printed\n${shown}-- expected\n${expected}`]
        : []
    })
    assert.strictEqual(wrong.join("\n"), "")
  })

describe.skipIf(missing.length > 0)("the tutorials", { concurrent: true }, () => {
  for (const name of TUTORIALS) {
    it.scopedLive.skipIf((NEEDED[name] ?? []).some(isMissing))(
      `docs/tutorials/${name}.md prints what it shows, line by line`,
      () => Effect.timeout(runTutorial(name), TIME_LIMIT)
    )
  }
})
