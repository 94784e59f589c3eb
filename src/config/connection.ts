import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { type Address, isEveryInterface } from "../base/addresses.ts"
import type { NetworkName } from "../protocol/networks.ts"
import { readArgv } from "./argv.ts"
import { cookiePath, dataDirOf, gather, type SettingsInput } from "./gather.ts"
import { fieldsOf, OPTIONS } from "./options.ts"
import { type Credentials, credentialsOf } from "./settings.ts"
import { defaultOf } from "./sources.ts"
import { UsageError } from "./UsageError.ts"
import { decoderOf, halfCredentials } from "./values.ts"

/** The options that the tools share with the daemon. The tools read the daemon's environment and file too. */
export const CONNECTION_OPTIONS = {
  network: OPTIONS.network,
  datadir: OPTIONS.datadir,
  rpcaddr: OPTIONS.rpcaddr,
  rpcuser: OPTIONS.rpcuser,
  rpcpassword: OPTIONS.rpcpassword
}

/** The settings with which a tool finds a daemon or its data. */
export interface ConnectionSettings {
  readonly network: NetworkName
  /** The source of the network, as of the address; `undefined` if none names it, so that any daemon is right. */
  readonly networkFrom: string | undefined
  readonly dataDir: string
  readonly rpc: Address & { readonly credentials: Credentials | undefined }
  /** The file in which a daemon with this data directory writes its cookie; `undefined`: nowhere. */
  readonly cookieFile: string | undefined
  /** The source of the address: a flag, a file and line, or `default`. */
  readonly rpcAddrFrom: string
}

const Values = Schema.Struct(fieldsOf(CONNECTION_OPTIONS)).pipe(Schema.filter(halfCredentials))

const decodeValues = decoderOf(CONNECTION_OPTIONS, Values)

/** Clients reach a daemon that listens on every interface on loopback. */
const reachable = (address: Address): Address =>
  isEveryInterface(address.host) ? { ...address, host: address.host.includes(":") ? "::1" : "127.0.0.1" } : address

/**
 * Parses the shared flags at the start of a tool's arguments and merges them with environment and configuration file.
 * `rest` begins with the first argument that is not a flag.
 */
export const decodeConnection = (
  input: SettingsInput
): Either.Either<{ readonly connection: ConnectionSettings; readonly rest: ReadonlyArray<string> }, UsageError> =>
  Either.gen(function*() {
    const { given, problems, rest } = readArgv(input.argv, CONNECTION_OPTIONS, { positional: "end" })
    if (problems.length > 0) return yield* Either.left(new UsageError({ problems }))
    const gathered = yield* gather({ ...CONNECTION_OPTIONS, rpccookiefile: OPTIONS.rpccookiefile }, given, input)
    const { network, rpcaddr, rpcpassword, rpcuser } = yield* decodeValues(gathered.source)
    const networkFrom = gathered.source.get("network")?.from
    const cookie = gathered.source.get("rpccookiefile")?.texts.at(-1) ?? ""
    return {
      connection: {
        network,
        networkFrom: networkFrom === defaultOf(OPTIONS.network).from ? undefined : networkFrom,
        dataDir: dataDirOf(gathered, input),
        rpc: { ...reachable(rpcaddr), credentials: credentialsOf(rpcuser, rpcpassword) },
        cookieFile: cookie === "" ? undefined : cookiePath(cookie, gathered, input),
        rpcAddrFrom: gathered.source.get("rpcaddr")?.from ?? "default"
      },
      rest
    }
  })
