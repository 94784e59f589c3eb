import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { reasonOf, systemCode } from "../../base/errorCode.ts"

/** Opens an address in the browser of the desktop. */

interface Surroundings {
  readonly platform: NodeJS.Platform
  readonly env: Readonly<Record<string, string | undefined>>
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

/** Why no browser opened; `undefined` if one did. */
export const openBrowser = (address: string, surroundings: Surroundings): Effect.Effect<string | undefined> => {
  if (!hasDesktop(surroundings)) return Effect.succeed("there is no desktop here (DISPLAY is not set)")
  const [program, ...args] = openerOf(surroundings)
  const opened = Effect.async<string | undefined>((resume) => {
    const child = spawn(program, [...args, address], { stdio: "ignore", detached: true, env: surroundings.env })
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
