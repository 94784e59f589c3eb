import { MAX_NAME_LENGTH } from "../consensus/names.ts"
import { MAX_FUTURE_BLOCK_TIME } from "../consensus/readerParams.ts"
import type { Bytes } from "../protocol/bytes.ts"
import { decodeText } from "../protocol/nameText.ts"
import { bitHostOf, nameOfDomain } from "../values/readName.ts"
import { askElectrum } from "./askElectrum.ts"
import { ElectrumFailure } from "./electrumSession.ts"
import { isFailure, MOST_FOLLOWING, type ProofFailure } from "./nameProof.ts"
import { type ProofOptions, type VerifiedName, verifyNameProof } from "./verifyNameProof.ts"

export interface ResolveProofOptions extends Omit<ProofOptions, "signatures"> {
  /** Up to eight Electrum servers for Namecoin, each on a different host, such as `wss://electrum.example:50004`. */
  readonly servers: ReadonlyArray<string>
  /** Minimum number of servers that give a valid proof or know no living name; 2 by default. A whole number above 0. */
  readonly agree?: number
  /** Number of requested headers after the header of the operation; 6 by default, at most 24. */
  readonly following?: number
  /** Time limit for each server in milliseconds; 10,000 by default. */
  readonly timeout?: number
}

/** The answer of one server. */
export type ServerAnswer =
  & { readonly server: string }
  & ({ readonly verified: VerifiedName } | { readonly absent: true } | ProofFailure)

/** The newest valid proof. */
export interface ResolvedName extends VerifiedName {
  /** The part of an address before the @, for `identity`; `_` for the name itself. */
  readonly local: string
  /** The `.bit` host in the text, for `records`; `undefined` for other names. */
  readonly host: string | undefined
  /** Number of servers that showed this operation. If it is below `agree`, some servers are behind or hide it. */
  readonly agreeing: number
  /** The answers of the servers until the result was certain. */
  readonly answers: ReadonlyArray<ServerAnswer>
}

/**
 * With `absent`, enough servers know no living name. With the code `expired` too, some know an expired one. No server
 * can prove absence.
 */
export interface UnresolvedName extends ProofFailure {
  readonly absent: boolean
  readonly answers: ReadonlyArray<ServerAnswer>
}

/** The name in a text, and the wanted part of its value. */
export interface WantedName {
  readonly name: Bytes
  readonly local: string
  readonly host: string | undefined
}

/**
 * Reads `alice@example.bit`, `www.example.bit`, `d/example` or `id/alice`; an exact name needs its namespace.
 * `undefined` for other texts.
 */
export const wantedName = (text: string): WantedName | undefined => {
  const at = text.lastIndexOf("@")
  const place = text.slice(at + 1)
  const host = bitHostOf(place)
  const name = decodeText(host === undefined ? place : nameOfDomain(place) ?? "", "utf8")
  if (name === undefined || name.length > MAX_NAME_LENGTH || !(host !== undefined || /^[a-z]+\//.test(place))) {
    return undefined
  }
  return name.length === 0 ? undefined : { name, local: at > 0 ? text.slice(0, at) : "_", host }
}

/** Maximum number of servers. */
const MOST_SERVERS = 8

/** The question to all servers. */
interface Asking {
  readonly wanted: WantedName
  readonly options: ResolveProofOptions
  readonly signal: AbortSignal
}

const ask = async (server: string, { options, signal, wanted: { name } }: Asking): Promise<ServerAnswer> => {
  const { following = 6, network = "main", timeout = 10_000 } = options
  const headers = Math.max(following, (options.minConfirmations ?? 1) - 1)
  try {
    const proof = await askElectrum(server, {
      name,
      network,
      timeout,
      signal,
      following: Math.min(headers, MOST_FOLLOWING)
    })
    if (proof === undefined) return { server, absent: true }
    const verified = verifyNameProof(proof, options)
    return isFailure(verified) ? { server, ...verified } : { server, verified }
  } catch (error) {
    if (error instanceof ElectrumFailure) return { server, failed: error.message }
    throw error
  }
}

/** The outpoint of the operation as text. */
const placeOf = ({ txid, vout }: VerifiedName): string => `${txid}:${vout}`

const verifiedIn = (answers: ReadonlyArray<ServerAnswer>): ReadonlyArray<VerifiedName> =>
  answers.flatMap((answer) => "verified" in answer ? [answer.verified] : [])

const isHeightClaimed = ({ problems }: VerifiedName): boolean => problems.some(({ code }) => code === "height-claimed")

/**
 * Whether an operation is newer. A proven height takes precedence over one that only a server claims, which can be any.
 * Times of neighbouring blocks can be out of order, so heights decide between those.
 */
const isNewer = (one: VerifiedName, other: VerifiedName): boolean => {
  const [claimed, otherClaimed] = [isHeightClaimed(one), isHeightClaimed(other)]
  if (claimed !== otherClaimed) return otherClaimed
  const later = one.time - other.time
  return Math.abs(later) > MAX_FUTURE_BLOCK_TIME ? later > 0 : one.height > other.height
}

/** The newest operation, and how many servers showed it. */
const newestIn = (answers: ReadonlyArray<ServerAnswer>) => {
  const all = verifiedIn(answers)
  const newest = all.reduce<VerifiedName | undefined>(
    (best, each) => best === undefined || isNewer(each, best) ? each : best,
    undefined
  )
  if (newest === undefined) return undefined
  return { newest, agreeing: all.filter((each) => placeOf(each) === placeOf(newest)).length }
}

/** Decides on the answers of all servers. Of failures, only `expired` counts as an answer. */
export const decide = (
  answers: ReadonlyArray<ServerAnswer>,
  wanted: WantedName,
  agree: number
): ResolvedName | UnresolvedName => {
  const isExpired = answers.some((answer) => "failed" in answer && answer.code === "expired")
  const counted = answers.filter((answer) => !("failed" in answer) || answer.code === "expired").length
  if (counted < agree) {
    const failed = `${counted} of ${agree} servers gave a valid answer`
    return { failed, absent: false, answers }
  }
  const found = newestIn(answers)
  if (found === undefined) {
    return isExpired
      ? { failed: "the name has expired", code: "expired", absent: true, answers }
      : { failed: "the servers know no such name", absent: true, answers }
  }
  const { agreeing, newest } = found
  return { ...newest, local: wanted.local, host: wanted.host, agreeing, answers }
}

/** The host in an address. On this machine, servers may differ by port, because all are the caller's own. */
const hostOf = (server: string): string => {
  const [, host = server, port = ""] = /^wss?:\/\/(?:[^/?#]*@)?(\[[^\]]*\]|[^:/?#]*)(:\d+)?/i.exec(server) ?? []
  const name = host.toLowerCase().replace(/\.$/, "")
  return /^(localhost|127\.[\d.]+|\[::1\])$/.test(name) ? name + port : name
}

/** The fault of a list of servers or of `agree`. */
const askingFault = (servers: ReadonlyArray<string>, agree: number): string | undefined => {
  if (!Number.isSafeInteger(agree) || agree < 1) return "the option agree is not a whole number above 0"
  const hosts = new Set(servers.map(hostOf))
  if (hosts.size < servers.length) return "two servers have the same host"
  if (servers.length < agree) return `there are fewer than ${agree} servers`
  return servers.length > MOST_SERVERS ? `there are more than ${MOST_SERVERS} servers` : undefined
}

/** Asks all servers concurrently. Ends early when enough of them show the same operation. */
const gather = (
  wanted: WantedName,
  { agree, options }: { readonly options: ResolveProofOptions; readonly agree: number }
): Promise<ReadonlyArray<ServerAnswer>> => {
  const rest = new AbortController()
  const asking = { wanted, options, signal: rest.signal }
  return new Promise<ReadonlyArray<ServerAnswer>>((resolve, reject) => {
    const answers: Array<ServerAnswer> = []
    const take = (answer: ServerAnswer): void => {
      answers.push(answer)
      const isCertain = (newestIn(answers)?.agreeing ?? 0) >= agree
      if (isCertain || answers.length === options.servers.length) resolve([...answers])
    }
    for (const server of options.servers) ask(server, asking).then(take, reject)
  }).finally(() => rest.abort())
}

/**
 * Resolves a name over Electrum servers, each of which proves its answer. The newest valid proof wins. Never rejects
 * because of a server.
 *
 * If all servers conspire, they can hide a newer operation or deny a name. Choose servers of several operators.
 */
export const resolve = async (text: string, options: ResolveProofOptions): Promise<ResolvedName | UnresolvedName> => {
  const { agree = 2, servers } = options
  const refuse = (failed: string): UnresolvedName => ({ failed, absent: false, answers: [] })
  const wanted = wantedName(text)
  if (wanted === undefined) return refuse("the text is not a name, such as d/example, example.bit or alice@example.bit")
  const fault = askingFault(servers, agree)
  if (fault !== undefined) return refuse(fault)
  return decide(await gather(wanted, { agree, options }), wanted, agree)
}
