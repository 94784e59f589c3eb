import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { reasonOf, systemCode } from "../../base/errorCode.ts"
import { PRIVATE_FILE } from "../../base/privateFile.ts"
import { newSecretToken } from "../../base/secretToken.ts"

/** Opens a secret address in the browser of the desktop. */

interface Surroundings {
  readonly platform: NodeJS.Platform
  readonly env: Readonly<Record<string, string | undefined>>
  readonly homedir: string
  /** Milliseconds that a browser has to read the file; a minute if omitted. */
  readonly patience?: number
}

const openerOf = ({ platform }: Surroundings): readonly [program: string, ...args: ReadonlyArray<string>] => {
  if (platform === "darwin") return ["open"]
  return platform === "win32" ? ["cmd", "/c", "start", ""] : ["xdg-open"]
}

const isSet = (text: string | undefined): boolean => text !== undefined && text !== ""

/** Without a desktop `xdg-open` would start a browser for terminals, which has none here. */
const hasDesktop = ({ env, platform }: Surroundings): boolean =>
  platform === "darwin" || platform === "win32" ||
  ["DISPLAY", "WAYLAND_DISPLAY", "BROWSER"].some((name) => isSet(env[name]))

/** After which a program that runs on is taken for the browser. */
const PATIENCE = "2 seconds"

const inAttribute = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("\"", "&quot;")

const pageTo = (address: string): string =>
  `<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=${
    inAttribute(address)
  }"><title>svcd</title><p><a href="${inAttribute(address)}">Open the desk</a></p>\n`

/** The command ends before the browser has read the file, so another process removes it. */
const removeLater = (file: string, { millis }: { readonly millis: number }): void => {
  const remove =
    "setTimeout(() => require('node:fs').rmSync(process.argv[1], { force: true }), Number(process.argv[2]))"
  const args = ["-e", remove, file, String(millis)]
  spawn(process.execPath, args, { stdio: "ignore", detached: true }).on("error", () => {}).unref()
}

/** Why the program opened nothing; `undefined` if it did. */
const started = (file: string, surroundings: Surroundings): Effect.Effect<string | undefined> => {
  const [program, ...args] = openerOf(surroundings)
  const opened = Effect.async<string | undefined>((resume) => {
    const child = spawn(program, [...args, file], { stdio: "ignore", detached: true, env: surroundings.env })
    child.once("error", (error) => {
      const code = systemCode(error)
      resume(
        Effect.succeed(code === "ENOENT" ? `${program} is not installed` : `${program}: ${reasonOf(String(code))}`)
      )
    })
    child.once(
      "exit",
      (status) => resume(Effect.succeed(status === 0 ? undefined : `${program} found no browser (status ${status})`))
    )
    child.unref()
  })
  return Effect.map(Effect.timeoutOption(opened, PATIENCE), (ended) => ended._tag === "Some" ? ended.value : undefined)
}

/**
 * Why no browser opened; `undefined` if one did. Other users can read the arguments of a program, so the browser gets a
 * file that leads to the address. It is in the home directory itself, because a browser in a sandbox (snap) reads
 * neither hidden directories nor `/tmp`.
 */
export const openBrowser = (address: string, surroundings: Surroundings): Effect.Effect<string | undefined> =>
  Effect.gen(function*() {
    if (!hasDesktop(surroundings)) return "there is no desktop here (DISPLAY is not set)"
    const file = join(surroundings.homedir, `svcd-desk-${newSecretToken().slice(0, 8)}.html`)
    const unwritten = yield* Effect.try({
      try: () => writeFileSync(file, pageTo(address), { mode: PRIVATE_FILE, flag: "wx" }),
      catch: (error) => `${surroundings.homedir}: ${reasonOf(String(systemCode(error)))}`
    }).pipe(Effect.match({ onFailure: (reason) => reason, onSuccess: () => undefined }))
    if (unwritten !== undefined) return unwritten
    const why = yield* started(file, surroundings)
    if (why === undefined) removeLater(file, { millis: surroundings.patience ?? 60_000 })
    else rmSync(file, { force: true })
    return why
  })
