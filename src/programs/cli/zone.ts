import * as Effect from "effect/Effect"
import { grouped } from "../../base/quantities.ts"
import type { DomainRecord } from "../../dns/domainRecord.ts"
import { domainRecordOf } from "../../dns/domainRecords.ts"
import { type Bytes, equal, fromHex, toHex } from "../../protocol/bytes.ts"
import { type NameKey, nameKey } from "../../protocol/keys.ts"
import { bitDomainOf, encodeText } from "../../protocol/nameText.ts"
import type { Json } from "../../rpc/json/json.ts"
import { RPC_CODE } from "../../rpc/method/RpcError.ts"
import type { RpcClientError } from "../../rpc/RpcClient.ts"
import { isDnsName } from "../../values/hosts.ts"
import { domainZone, recordsBelow } from "../../values/zone.ts"
import type { OwnContext } from "./commandContext.ts"
import type { Daemon } from "./daemon.ts"
import { zoneLine } from "./dig.ts"
import { at, numberAt, objectsOf, textAt } from "./jsonText.ts"
import { noteLines, readWord } from "./nameHints.ts"
import { type CliInput, type CliOutcome, CommandFailed, NAME, success } from "./outcome.ts"
import { IN_HEX } from "./ownNames.ts"

/** Seconds, for the hosts of the zone itself, and for its SOA and NS. */
const OWN_HOST_TTL = 600
const APEX_TTL = 86_400

/** Names of one `name_scan`. */
const PAGE = 500

/** Number of records per write. */
const RECORDS_AT_ONCE = 250

/** Values of imported names that are kept: many domains import the same ones. */
const KEPT_VALUES = 1_000

interface FoundName {
  readonly name: Bytes
  readonly value: Bytes
  readonly isExpired: boolean
}

const readFound = (said: Json): FoundName | undefined => {
  const [name, value] = [fromHex(textAt(said, "name") ?? ""), fromHex(textAt(said, "value") ?? "")]
  const isExpired = at(said, "expired") === true || (numberAt(said, "expires_in") ?? 1) <= 0
  return name === undefined || value === undefined ? undefined : { name, value, isExpired }
}

type Shown = Effect.Effect<Bytes | undefined, RpcClientError>

/** The values of names that have not expired, from the daemon, each asked for once while it is kept. */
const makeValues = (daemon: Daemon): (name: Bytes) => Shown => {
  const kept = new Map<NameKey, Bytes | undefined>()
  return (name) => {
    const key = nameKey(name)
    if (kept.has(key)) return Effect.succeed(kept.get(key))
    return daemon.ask("name_show", { name: toHex(name), options: { ...IN_HEX.options, allowExpired: true } }).pipe(
      Effect.map(readFound),
      Effect.catchIf(
        (error) => error._tag === "RpcFailure" && error.code === RPC_CODE.wallet,
        () => Effect.succeed(undefined)
      ),
      Effect.map((found) => {
        const value = found === undefined || found.isExpired ? undefined : found.value
        const [oldest] = kept.keys()
        if (kept.size >= KEPT_VALUES && oldest !== undefined) kept.delete(oldest)
        kept.set(key, value)
        return value
      })
    )
  }
}

/** None for a name that is not a domain. `ttl` in seconds. */
const recordsOf = (
  { name, value }: Pick<FoundName, "name" | "value">,
  { ttl, valueOf }: { readonly ttl: number; readonly valueOf: (name: Bytes) => Shown }
): Effect.Effect<ReadonlyArray<ZoneRecord>, RpcClientError> =>
  Effect.gen(function*() {
    const domain = bitDomainOf(name)
    if (domain === undefined) return []
    const work = domainZone({ name, value, host: `${domain}.` })
    let step = work.next()
    while (step.done !== true) step = work.next(yield* valueOf(step.value))
    return Array.from(
      recordsBelow(step.value.host, step.value.top),
      ({ owner, record }) => domainRecordOf({ name: owner, ttl }, record)
    )
  })

type ZoneRecord = Pick<DomainRecord, "data" | "name" | "ttl"> & { readonly type: string }

/** A line for each. */
const textOf = (records: ReadonlyArray<ZoneRecord>, line: ZoneContext["line"]): string => {
  const lineOf = line.wants("json") ? (record: ZoneRecord) => JSON.stringify(record) : zoneLine
  return records.map((record) => `${lineOf(record)}\n`).join("")
}

/** As the node says it without `-dnsns`, whose host is its own. */
const OWN_SERVER = "this.x--nmc.bit."

const apexRecords = (servers: ReadonlyArray<string>, serial: number): ReadonlyArray<ZoneRecord> => {
  const [primary = OWN_SERVER] = servers
  const apex = { name: "bit.", ttl: APEX_TTL }
  return [
    { ...apex, type: "SOA", data: `${primary} hostmaster.${primary} ${serial} 600 600 7200 60` },
    ...(servers.length === 0 ? [OWN_SERVER] : servers).map((data) => ({ ...apex, type: "NS", data })),
    ...servers.length > 0 ? [] : [
      { name: OWN_SERVER, ttl: OWN_HOST_TTL, type: "A", data: "127.127.127.127" },
      { name: "aia.x--nmc.bit.", ttl: OWN_HOST_TTL, type: "CNAME", data: OWN_SERVER }
    ]
  ]
}

const serversOf = (given: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<string>, CommandFailed> => {
  const hosts = given.map((host) => `${host.toLowerCase().replace(/\.$/, "")}.`)
  const wrong = hosts.findIndex((host) => !isDnsName(host))
  return wrong < 0
    ? Effect.succeed(hosts)
    : new CommandFailed({ message: `-ns: ${given[wrong] ?? ""} is not the name of a host, such as ns1.example.org` })
}

/** One page after another, in the order of `name_scan`: the shortest first. */
const pages = (
  daemon: Daemon,
  each: (names: ReadonlyArray<FoundName>) => Effect.Effect<void, RpcClientError>
): Effect.Effect<void, RpcClientError> =>
  Effect.gen(function*() {
    const prefix = Buffer.from("d/")
    for (let last: Bytes | undefined;;) {
      const page = yield* daemon.ask("name_scan", {
        start: toHex(last ?? prefix),
        count: PAGE,
        options: { ...IN_HEX.options, prefix: toHex(prefix) }
      })
      const names = objectsOf(page).flatMap((said) => readFound(said) ?? [])
      const fresh = names.filter(({ name }) => last === undefined || !equal(name, last))
      yield* each(fresh)
      last = fresh.at(-1)?.name
      if (last === undefined || names.length < PAGE) return
    }
  })

const wholeZone = ({ daemon, input: { output }, line, ttl }: ZoneContext) =>
  Effect.gen(function*() {
    const servers = yield* serversOf(line.texts("ns"))
    const info = yield* daemon.ask("getblockchaininfo")
    const height = numberAt(info, "blocks") ?? 0
    const valueOf = makeValues(daemon)
    const write = (records: ReadonlyArray<ZoneRecord>) =>
      records.length === 0 ? Effect.void : output.write(textOf(records, line))
    yield* write(apexRecords(servers, height))
    const printing = pages(daemon, (names) =>
      Effect.gen(function*() {
        let waiting: Array<ZoneRecord> = []
        for (const found of names) {
          if (found.isExpired) continue
          waiting.push(...yield* recordsOf(found, { ttl, valueOf }))
          if (waiting.length < RECORDS_AT_ONCE) continue
          yield* write(waiting)
          waiting = []
        }
        yield* write(waiting)
      }))
    const isBehind = at(info, "initialblockdownload") === true || (numberAt(info, "headers") ?? height) > height
    const note = `${NAME}: note: the node is still syncing: these are the names at block ${grouped(height)}\n`
    return yield* Effect.raceFirst(
      Effect.as(printing, { code: 0, stdout: "", stderr: isBehind ? note : "" }),
      Effect.as(output.stopped, { code: 1, stdout: "", stderr: "" })
    )
  })

const zoneOfName = ({ daemon, line, ttl }: ZoneContext): Effect.Effect<CliOutcome, RpcClientError | CommandFailed> =>
  Effect.gen(function*() {
    const { name, surprises, text } = yield* readWord(line.words[0])
    const domain = bitDomainOf(name)
    if (domain === undefined) {
      return yield* new CommandFailed({ message: `${text} is not the name of a domain, such as d/example` })
    }
    const valueOf = makeValues(daemon)
    const value = yield* valueOf(name)
    if (value === undefined) {
      return yield* new CommandFailed({ message: `${text} is not registered, or has expired` })
    }
    const records = yield* recordsOf({ name, value }, { ttl, valueOf })
    return {
      ...success(textOf(records, line)),
      stderr: `${noteLines(surprises.filter(({ code }) => code !== "below"))}${
        records.length === 0
          ? `${NAME}: note: the value of ${encodeText(name, "ascii") ?? text} makes no DNS records\n`
          : ""
      }`
    }
  })

export type ZoneContext = Pick<OwnContext, "daemon" | "line"> & {
  readonly input: Pick<CliInput, "output">
  /** Seconds, for the records of names. */
  readonly ttl: number
}

/** Prints the zone of one name, or of all names, page by page. */
export const zoneCommand = (context: ZoneContext): Effect.Effect<CliOutcome, RpcClientError | CommandFailed> =>
  context.line.words.length === 0 ? wholeZone(context) : zoneOfName(context)
