import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { formatHostPort, isLoopback, overlap } from "../base/addresses.ts"
import { shortAmount } from "../protocol/amount.ts"
import { wantsCookie } from "./cookie.ts"
import { type OptionTable } from "./optionRow.ts"
import { fieldsOf, isOptionName, type OptionName, optionNamesOf, OPTIONS } from "./options.ts"
import { peerContradictions } from "./peerSettings.ts"
import { withoutPort } from "./permissions.ts"
import type { RELAY_OPTIONS } from "./relayOptions.ts"
import { defaultOf, type OptionSource } from "./sources.ts"
import { UsageError } from "./UsageError.ts"
import type { WALLET_OPTIONS } from "./walletOptions.ts"

/** All options by name, decoded from text. The rules are the same for flags, environment, file and defaults. */
export type Values = Schema.Struct.Type<ReturnType<typeof fieldsOf<typeof OPTIONS>>>

/** The options of relay policy and mining. */
export type RelayValues = Pick<Values, keyof typeof RELAY_OPTIONS>

/** The options of wallets. */
export type WalletValues = Pick<Values, keyof typeof WALLET_OPTIONS>

/** Fails for a user without a password, or the reverse. */
export const halfCredentials = (
  { rpcpassword, rpcuser }: Pick<Values, "rpcuser" | "rpcpassword">
): ReadonlyArray<Schema.FilterIssue> => {
  if ((rpcuser === undefined) === (rpcpassword === undefined)) return []
  const [given, missing] = rpcuser === undefined ? ["rpcpassword", "rpcuser"] : ["rpcuser", "rpcpassword"]
  return [{ path: [given], message: `is given without ${missing}; RPC needs both or neither` }]
}

/** What the desk needs: credentials, a wallet, and no way to it from other machines without TLS. */
const deskIssues = (values: Values): ReadonlyArray<Schema.FilterIssue> => {
  const { rpcaddr, rpcbind, rpcpassword, webwallet, webwalletproxy } = values
  if (!webwallet) return []
  const issues: Array<Schema.FilterIssue> = []
  const complain = (name: OptionName, message: string): void => void issues.push({ path: [name], message })
  if (rpcpassword === undefined && values.rpcauth.length === 0 && !wantsCookie(values)) {
    complain("webwallet", "needs credentials to log in with, and rpccookiefile is empty; set rpcauth or rpcuser")
  }
  if (values.disablewallet) complain("webwallet", "is for wallets, and disablewallet turns them off")
  const open = webwalletproxy ? undefined : [rpcaddr, ...rpcbind].find(({ host }) => !isLoopback(host))
  if (open !== undefined) {
    complain(
      "webwallet",
      `is for browsers of this machine, and RPC listens on ${
        formatHostPort(open)
      }, which is open to others; listen on ` +
        "127.0.0.1, or put a proxy with TLS in front and set webwalletproxy"
    )
  }
  return issues
}

/** The contradictions between values that are each valid. */
export const contradictions = (values: Values): ReadonlyArray<Schema.FilterIssue> => {
  const { listen, maxpeers, metricsaddr, network, rpcaddr, rpcallowinsecure, rpcpassword, rpcuser } = values
  const issues: Array<Schema.FilterIssue> = []
  const complain = (name: OptionName, message: string): void => void issues.push({ path: [name], message })

  const listeners = [
    { name: "rpcaddr", address: rpcaddr } as const,
    ...values.rpcbind.map((address) => ({ name: "rpcbind", address }) as const)
  ]
  issues.push(...halfCredentials(values), ...deskIssues(values))
  const isOpen = rpcuser === undefined && rpcpassword === undefined && values.rpcauth.length === 0
  if (values.rpccookie && rpcpassword !== undefined) {
    complain("rpccookie", "makes a password, and rpcpassword is set; give one of the two")
  }
  if (values.rpccookie && values.rpccookiefile === undefined) {
    complain("rpccookie", "needs a file, and rpccookiefile is empty")
  } else if (isOpen && !wantsCookie(values) && !rpcallowinsecure) {
    for (const { address, name } of listeners.filter(({ address }) => !isLoopback(address.host))) {
      complain(
        name,
        `${formatHostPort(address)} is open to other machines, and there are no credentials; ` +
          "set rpcuser and rpcpassword, or rpcauth, or rpccookiefile, or rpcallowinsecure"
      )
    }
  }
  listeners.forEach(({ address, name }, at) => {
    const taken = listeners.slice(0, at).find((before) => overlap(before.address, address))
    if (taken !== undefined) {
      complain(name, `${formatHostPort(address)} is taken by ${taken.name} ${formatHostPort(taken.address)}`)
    }
  })
  if (isOpen && !wantsCookie(values)) {
    for (const name of ["rpcwhitelist", "rpcrights"] as const) {
      if (values[name].length === 0) continue
      complain(
        name,
        "is for users, and callers need no credentials; set rpccookie, rpcauth, or rpcuser and rpcpassword"
      )
    }
  }
  for (const { address, name } of listeners) {
    if (metricsaddr !== undefined && overlap(metricsaddr, address)) {
      complain("metricsaddr", `${formatHostPort(metricsaddr)} is taken by ${name} ${formatHostPort(address)}`)
    }
    if (listen !== undefined && maxpeers > 0 && overlap(listen, address)) {
      complain(name, `${formatHostPort(address)} is taken by listen ${formatHostPort(listen)}`)
    }
  }
  if (listen !== undefined && maxpeers > 0) {
    if (metricsaddr !== undefined && overlap(metricsaddr, listen)) {
      complain("metricsaddr", `${formatHostPort(metricsaddr)} is taken by listen ${formatHostPort(listen)}`)
    }
  }
  if (network === "mainnet" && values.acceptnonstdtxn) {
    complain("acceptnonstdtxn", "is for regtest and testnet, and the network is mainnet")
  }
  if (values.maxtxfee < values.minrelaytxfee) {
    complain(
      "maxtxfee",
      `${shortAmount(values.maxtxfee)} is below minrelaytxfee ${shortAmount(values.minrelaytxfee)}, ` +
        "and peers would relay no transaction of a wallet"
    )
  }
  if (values.prune !== 0) {
    for (const name of ["txindex", "txospenderindex", "reindex-chainstate"] as const) {
      if (!values[name]) continue
      const remedy = name === "reindex-chainstate" ? ". Use full -reindex instead." : "."
      complain("prune", `Prune mode is incompatible with -${name}${remedy}`)
    }
  }
  if (values.loadsnapshot !== undefined) {
    for (const name of ["reindex", "reindex-chainstate"] as const) {
      if (!values[name]) continue
      complain("loadsnapshot", `cannot be given with ${name}, which rebuilds the chain state from the stored blocks`)
    }
    if (values.sync === "light") complain("loadsnapshot", "is for sync full: a light node keeps no coins")
  }
  for (const [name, message] of peerContradictions(values)) complain(name, message)
  for (const entry of values.whitebind) {
    if (listen === undefined) {
      complain("whitebind", "Cannot set -bind or -whitebind together with -listen=0; remove the empty listen")
    }
    if (entry.address.port === 0) complain("whitebind", withoutPort(entry))
    for (const { address, name } of listeners.filter((each) => overlap(entry.address, each.address))) {
      complain("whitebind", `${formatHostPort(entry.address)} is taken by ${name} ${formatHostPort(address)}`)
    }
  }
  if (network !== "regtest") {
    const onRegtestOnly = `is for regtest alone, and the network is ${network}`
    if (values.mocktime !== 0) complain("mocktime", onRegtestOnly)
    if (values.fastprune) complain("fastprune", onRegtestOnly)
    if (values.testactivationheight.length > 0) complain("testactivationheight", onRegtestOnly)
    if (values.blockversion !== 0) complain("blockversion", onRegtestOnly)
    if (values.vbparams.length > 0) complain("vbparams", onRegtestOnly)
    if (values.test.length > 0) complain("test", `${onRegtestOnly}; for testnet write -network testnet`)
  }
  return issues
}

const textsOf = (options: OptionTable, source: OptionSource): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    optionNamesOf(options).filter(isOptionName).map((name) => {
      const { texts } = source.get(name) ?? defaultOf(OPTIONS[name])
      return [name, OPTIONS[name].repeatable ? texts : texts[texts.length - 1]]
    })
  )

/**
 * The messages of a failed decode, each with the location of its value. A flag is not repeated in front of a message that
 * names it, or that is a whole sentence: those are in the words of the reference node.
 */
const problemsOf = (error: ParseResult.ParseError, source: OptionSource): ReadonlyArray<string> =>
  ParseResult.ArrayFormatter.formatErrorSync(error).map(({ message, path }) => {
    const name = String(path[0])
    const label = isOptionName(name) ? source.get(name)?.label ?? name : name
    const isWhole = label === `-${name}` && (message.includes(label) || message.endsWith("."))
    return isWhole ? message : `${label}: ${message}`
  })

/** A decoder of the collected options of `schema`. It reports every problem with the location of the value. */
export const decoderOf = <A, I>(options: OptionTable, schema: Schema.Schema<A, I>) => {
  const decode = Schema.decodeUnknownEither(schema, { errors: "all" })
  return (source: OptionSource): Either.Either<A, UsageError> =>
    Either.mapLeft(decode(textsOf(options, source)), (error) => new UsageError({ problems: problemsOf(error, source) }))
}

let decodeAll: ((source: OptionSource) => Either.Either<Values, UsageError>) | undefined

/** The decoder of all options. Its making takes time, and programs that only connect to a daemon do without it. */
export const decodeValues = (source: OptionSource): Either.Either<Values, UsageError> => {
  decodeAll ??= decoderOf(
    OPTIONS,
    Schema.Struct(fieldsOf(OPTIONS)).pipe(Schema.filter((values) => contradictions(values)))
  )
  return decodeAll(source)
}
