import * as Either from "effect/Either"
import { type Address, isEveryInterface } from "../base/addresses.ts"
import type { NetworkName } from "../protocol/networks.ts"
import { readArgv } from "./argv.ts"
import { halfCredentials } from "./contradictions.ts"
import { refusing, settingsDecoder } from "./decode.ts"
import { gather, type SettingsInput } from "./gather.ts"
import { OPTIONS } from "./options.ts"
import { type Credentials, credentialsOf } from "./settings.ts"
import { defaultOf } from "./sources.ts"
import { UsageError } from "./UsageError.ts"

/** Options that the tools share with the daemon, whose environment and file they read. */
export const CONNECTION_OPTIONS = {
  network: OPTIONS.network,
  datadir: OPTIONS.datadir,
  rpcaddr: OPTIONS.rpcaddr,
  rpcuser: OPTIONS.rpcuser,
  rpcpassword: OPTIONS.rpcpassword
}

/** The same options, described for callers: where to connect, not how to listen. */
export const CALLING_OPTIONS = {
  network: {
    ...CONNECTION_OPTIONS.network,
    description: "required network of the daemon",
    defaultNote: "any"
  },
  datadir: { ...CONNECTION_OPTIONS.datadir, description: "data directory; svcd.conf in it is read" },
  rpcaddr: { ...CONNECTION_OPTIONS.rpcaddr, description: "address of the daemon" },
  rpcuser: { ...CONNECTION_OPTIONS.rpcuser, description: "user name for the daemon" },
  rpcpassword: {
    ...CONNECTION_OPTIONS.rpcpassword,
    description: "password for the daemon; prefer the environment or a file"
  }
}

export interface ConnectionSettings {
  readonly network: NetworkName
  /** The source of the network; `undefined` if no source sets it, so that any daemon is accepted. */
  readonly networkFrom: string | undefined
  readonly dataDir: string
  readonly rpc: Address & { readonly credentials: Credentials | undefined }
  /** Where a daemon with this data directory writes its cookie; `undefined`: nowhere. */
  readonly cookieFile: string | undefined
  /** A flag, a file and line, or `default`. */
  readonly rpcAddrFrom: string
}

const READ_OPTIONS = { ...CONNECTION_OPTIONS, rpccookiefile: OPTIONS.rpccookiefile }

const decodeOptions = settingsDecoder(READ_OPTIONS)

/** Where a caller on this machine reaches a listener. */
export const reachable = (address: Address): Address =>
  isEveryInterface(address.host) ? { ...address, host: address.host.includes(":") ? "::1" : "127.0.0.1" } : address

/** Merges the flags before a tool's arguments with environment and file. `rest` starts at the first other argument. */
export const decodeConnection = (
  input: SettingsInput
): Either.Either<{ readonly connection: ConnectionSettings; readonly rest: ReadonlyArray<string> }, UsageError> =>
  Either.gen(function*() {
    const { given, problems, rest } = readArgv(input.argv, CONNECTION_OPTIONS, { positional: "end" })
    if (problems.length > 0) return yield* Either.left(new UsageError({ problems }))
    const gathered = yield* gather(READ_OPTIONS, given, input)
    const { chain, cookie, rpc } = yield* decodeOptions(gathered, input)
    yield* refusing(halfCredentials(rpc), gathered.source)
    const networkFrom = gathered.source.get("network")?.from
    return {
      connection: {
        ...chain,
        networkFrom: networkFrom === defaultOf(OPTIONS.network).from ? undefined : networkFrom,
        rpc: { ...reachable(rpc.listenAddr), credentials: credentialsOf(rpc) },
        cookieFile: cookie.file,
        rpcAddrFrom: gathered.source.get("rpcaddr")?.from ?? "default"
      },
      rest
    }
  })
