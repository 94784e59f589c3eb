import * as Effect from "effect/Effect"
import { join } from "node:path"
import { formatHostPort, isLoopback } from "../../base/addresses.ts"
import { shownPath } from "../../base/safeText.ts"
import { RPC_CODE } from "../../rpc/method/RpcError.ts"
import type { RpcClientError } from "../../rpc/RpcClient.ts"
import type { OwnContext } from "./commandContext.ts"
import { at, indented, objectOf } from "./jsonText.ts"
import { type CliOutcome, CommandFailed, failure, NAME, success, usageOutcome } from "./outcome.ts"

/** `svcd-cli desk`: a link that signs a browser in to the desk. */

interface Base {
  readonly address: string
  /** What to do before the link can be opened. */
  readonly before: string | undefined
}

/** The address of a proxy; `undefined` for one that the desk would not answer. */
const givenBase = (text: string): Base | undefined => {
  const url = URL.parse(text)
  if (url === null || url.search !== "" || url.hash !== "" || url.username !== "") return undefined
  const isLocal = isLoopback(url.hostname.replace(/^\[|\]$/g, "")) || url.hostname.endsWith(".localhost")
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLocal)) return undefined
  return { address: `${url.origin}${url.pathname.replace(/\/+$/, "")}`, before: undefined }
}

const tunnel = (port: number, host: string): string => `  ssh -N -L ${port}:127.0.0.1:${port} ${host}`

/** The address of this machine, as the SSH client used it. */
const sshHost = (connection: string | undefined): string | undefined => connection?.split(" ")[2]

/** Through a tunnel if the browser is on another machine than the daemon. */
const baseOf = ({ connection: { rpc }, input: { env } }: OwnContext): Base => {
  const { host, port } = rpc
  if (!isLoopback(host)) {
    return {
      address: `http://127.0.0.1:${port}`,
      before: `The daemon is on ${host}. First open a tunnel to it on this machine, and leave it open:\n${
        tunnel(port, host)
      }`
    }
  }
  const ssh = sshHost(env["SSH_CONNECTION"])
  return {
    address: `http://${formatHostPort(rpc)}`,
    before: ssh === undefined
      ? undefined
      : `You are here by SSH. First open a tunnel on your own machine, and leave it open:\n${tunnel(port, ssh)}`
  }
}

const WRONG_URL = "-url: give the address of the desk's proxy, such as https://names.example.org, with https"

const off = ({ connection: { dataDir } }: OwnContext): CommandFailed =>
  new CommandFailed({
    message: "the desk is off",
    remedy: `Add the line "webwallet = true" to ${
      shownPath(join(dataDir, "svcd.conf"))
    }, or start svcd with -webwallet. Restart svcd, and run "${NAME} desk" again.`
  })

export const deskCommand = (context: OwnContext): Effect.Effect<CliOutcome, RpcClientError | CommandFailed> =>
  Effect.gen(function*() {
    const { daemon, input, line } = context
    const given = line.text("url")
    const base = given === undefined ? baseOf(context) : givenBase(given)
    if (base === undefined) return usageOutcome([WRONG_URL])
    const answer = yield* Effect.catchIf(
      daemon.call("createdesklink"),
      (error) => error._tag === "RpcFailure" && error.code === RPC_CODE.misc,
      () => off(context)
    )
    const [path, seconds] = [at(answer, "path"), at(answer, "expires_in")]
    const link = `${base.address}${String(path)}`
    if (line.wants("json")) return success(`${indented(objectOf({ link, expires_in: seconds ?? null }))}\n`)
    if (base.before !== undefined) input.note(base.before)
    const isProxied = given === undefined && at(answer, "behind_proxy") === true
    input.note(
      `Open this link in a browser within ten minutes. It works once.${
        isProxied ? " For the address of your proxy, add -url https://HOST." : ""
      }`
    )
    if (!line.wants("open")) return success(`${link}\n`)
    const { openBrowser } = yield* Effect.promise(() => import("./openBrowser.ts"))
    const why = yield* openBrowser(link, {
      platform: process.platform,
      env: input.env,
      homedir: input.homedir
    })
    return why === undefined
      ? success(`${link}\n`)
      : { ...failure(1, { message: `no browser opened: ${why}. Open the link yourself` }), stdout: `${link}\n` }
  })
