import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { type Address, formatHostPort, isLoopback } from "../../base/addresses.ts"
import { unixTime } from "../../base/clock.ts"
import { secureRandom } from "../../base/entropy.ts"
import { readGivenNow } from "../../base/givenFile.ts"
import { spanText } from "../../base/quantities.ts"
import { type ConnectionSettings, reachable } from "../../config/connection.ts"
import { decodeSettings } from "../../config/decodeSettings.ts"
import { dnsForwardKind, type DnsForwardTarget } from "../../config/dnsKinds.ts"
import type { DnsSettings } from "../../config/dnsOptions.ts"
import type { SettingsInput } from "../../config/gather.ts"
import type { AskFailed } from "../../dns/forward/AskFailed.ts"
import { type AskServer, plainServer, tcpServer, tlsServer } from "../../dns/forward/askServer.ts"
import { isKeyFileName, LONGEST_KEY_FILE, readKeyFile } from "../../dns/sign/keyFile.ts"
import { FLAGS, RCODES } from "../../dns/wire/codes.ts"
import type { DnsMessage } from "../../dns/wire/message.ts"
import { BIT_ORIGIN } from "../../dns/zone/suffix.ts"
import { orNothing } from "../../protocol/orNothing.ts"
import { TYPE_NUMBERS } from "../../values/records.ts"
import { type Check, fail, ok, warn } from "./doctorCheck.ts"
import { NAME } from "./outcome.ts"

/** What doctor asks over DNS: svcd itself, a resolver, and whether something else answers on port 53. */

const DNS_PORT = 53

/** RFC 5737: nobody has this address, so whoever answers has intercepted the question. */
const NOBODY: Address = { host: "192.0.2.1", port: DNS_PORT }

const random = secureRandom()

const soa = (ask: AskServer, recursion: boolean): Effect.Effect<Either.Either<DnsMessage, AskFailed>> =>
  Effect.either(
    ask({ name: BIT_ORIGIN, type: TYPE_NUMBERS.SOA }, { recursion, dnssec: true, checkingDisabled: false })
  )

const hasType = (message: DnsMessage, type: number): boolean =>
  message.rcode === RCODES.NOERROR && message.answer.some((record) => record.type === type)

const rcodeText = ({ rcode }: DnsMessage): string =>
  Object.entries(RCODES).find(([, value]) => value === rcode)?.[0] ?? `code ${rcode}`

const plain = (address: Address): DnsForwardTarget => ({ address, tlsName: undefined })

const TRANSPORTS = [["UDP", plainServer], ["TCP", tcpServer]] as const

const transportChecks = (address: Address): Effect.Effect<ReadonlyArray<Check>> =>
  Effect.forEach(
    TRANSPORTS,
    ([transport, serverOf]) =>
      Effect.map(soa(serverOf(plain(address), random), false), (answer): Check => {
        const place = `${formatHostPort(address)} over ${transport}`
        if (Either.isLeft(answer)) {
          return fail("dns", {
            text: `no DNS server answers at ${place}: ${answer.left.reason}`,
            remedy: "start svcd, or look in its log; another program may have the port of -dns"
          })
        }
        if (hasType(answer.right, TYPE_NUMBERS.SOA)) return ok({ check: "dns", text: `DNS is answered at ${place}` })
        return answer.right.rcode === RCODES.SERVFAIL
          ? warn("dns", {
            text: `svcd has no DNS answers yet at ${place}`,
            remedy: `"${NAME} status -wait" waits until all names are known`
          })
          : fail("dns", {
            text: `the DNS server at ${place} does not have the zone bit: it answers ${rcodeText(answer.right)}`,
            remedy: "another program may have the port: stop it, or set another one with -dns"
          })
      }),
    { concurrency: 2 }
  )

const signedCheck = (address: Address): Effect.Effect<Check> =>
  plainServer(plain(address), random)(
    { name: BIT_ORIGIN, type: TYPE_NUMBERS.DNSKEY },
    { recursion: false, dnssec: true, checkingDisabled: false }
  ).pipe(
    Effect.map((answer) => hasType(answer, TYPE_NUMBERS.DNSKEY) && hasType(answer, TYPE_NUMBERS.RRSIG)),
    Effect.orElseSucceed(() => false),
    Effect.map((isSigned) =>
      isSigned
        ? ok({ check: "dnssec", text: "the keys of the zone bit are signed" })
        : fail("dnssec", {
          text: `no signed keys of the zone bit come from ${formatHostPort(address)}`,
          remedy: `restart svcd if -dnssec is new; "${NAME} dnskey" lists its keys`
        })
    )
  )

/** When each key was made, in seconds, where its file tells; `undefined` for another user's directory, or none. */
const keyTimes = (directory: string): ReadonlyArray<number | undefined> | undefined =>
  orNothing(() =>
    readdirSync(directory).filter(isKeyFileName).map((file) => {
      const key = readKeyFile(readGivenNow(join(directory, file), LONGEST_KEY_FILE).toString("utf8"), BIT_ORIGIN)
      return typeof key === "string" ? undefined : key.created
    })
  )

const keyChecks = (directory: string): Effect.Effect<ReadonlyArray<Check>> =>
  Effect.map(unixTime, (now) => {
    const times = keyTimes(directory)
    if (times === undefined) return []
    if (times.length === 0) {
      return [warn("dnskey", {
        text: `${directory} has no DNSSEC key`,
        remedy: "restore the directory from a backup; with a new key, resolvers need a new trust anchor"
      })]
    }
    if (times.includes(undefined)) {
      return [fail("dnskey", {
        text: `${directory} has a damaged DNSSEC key`,
        remedy: "restore the directory from a backup; svcd does not start with it"
      })]
    }
    const age = spanText(now - Math.max(...times.map((time) => time ?? 0)))
    const text =
      `the last DNSSEC key is ${age} old; back up ${directory}, or resolvers need a new trust anchor after a loss`
    return [ok({ check: "dnskey", text })]
  })

const RECIPES = "docs/dns.md has the lines for each resolver"

interface ResolverFound {
  readonly target: DnsForwardTarget
  readonly signs: boolean
}

const resolverVerdict = ({ signs, target }: ResolverFound, answer: Either.Either<DnsMessage, AskFailed>): Check => {
  const place = formatHostPort(target.address)
  if (Either.isLeft(answer)) {
    return fail("resolver", {
      text: `the resolver ${place} does not answer: ${answer.left.reason}`,
      remedy: "check its address, and whether it runs"
    })
  }
  const message = answer.right
  if (!hasType(message, TYPE_NUMBERS.SOA)) {
    return fail("resolver", {
      text: `the resolver ${place} does not find the zone bit: it answers ${rcodeText(message)}`,
      remedy: message.rcode === RCODES.SERVFAIL
        ? `it does not reach svcd, or has another trust anchor than "${NAME} dnskey show" prints; ${RECIPES}`
        : `let it ask svcd about bit; ${RECIPES}`
    })
  }
  if ((message.flags & FLAGS.AD) !== 0) {
    return ok({ check: "resolver", text: `${place} finds and validates the zone bit` })
  }
  return signs
    ? warn("resolver", {
      text: `${place} finds the zone bit, and does not validate it`,
      remedy: `give it the trust anchor of "${NAME} dnskey show"; ${RECIPES}`
    })
    : ok({ check: "resolver", text: `${place} finds the zone bit` })
}

const resolverCheck = (found: ResolverFound): Effect.Effect<Check> =>
  Effect.scoped(Effect.gen(function*() {
    const { target } = found
    const ask = target.tlsName === undefined ? plainServer(target, random) : yield* tlsServer(target, random)
    return resolverVerdict(found, yield* soa(ask, true))
  }))

export const interceptedCheck = (nobody: Address = NOBODY): Effect.Effect<Check> =>
  Effect.map(soa(plainServer(plain(nobody), random), true), (answer) =>
    Either.isLeft(answer)
      ? ok({ check: "port53", text: "this network does not seem to intercept DNS" })
      : warn("port53", {
        text: "this network intercepts port 53: a question to an address that nobody has was answered",
        remedy: "use a resolver over TLS, as -dnsforward tls://ADDRESS#NAME"
      }))

const leavesOnPort53 = ({ address, tlsName }: DnsForwardTarget): boolean =>
  tlsName === undefined && address.port === DNS_PORT && !isLoopback(address.host)

export interface DnsDoctorInput {
  readonly connection: Pick<ConnectionSettings, "dataDir" | "network" | "rpc">
  readonly input: SettingsInput
  /** From `-resolver`. */
  readonly resolver: string | undefined
}

const ownChecks = (dns: DnsSettings, dataDir: string): Effect.Effect<ReadonlyArray<Check>> =>
  Effect.gen(function*() {
    const addresses = dns.listen.map(reachable)
    const answered = yield* Effect.forEach(addresses, transportChecks)
    const [first] = addresses
    const signed = dns.dnssec && first !== undefined
      ? [yield* signedCheck(first), ...(yield* keyChecks(join(dataDir, "dns")))]
      : []
    return [...answered.flat(), ...signed]
  })

/** Nothing without `-dns` and without a resolver to check. Of a daemon elsewhere, the settings here say nothing. */
export const dnsChecks = ({ connection, input, resolver }: DnsDoctorInput): Effect.Effect<ReadonlyArray<Check>> =>
  Effect.gen(function*() {
    const argv = ["-network", connection.network, "-datadir", connection.dataDir]
    const decoded = Either.getOrUndefined(decodeSettings({ ...input, argv }))
    const dns = isLoopback(connection.rpc.host) ? decoded?.dns : undefined
    const own = dns === undefined ? [] : yield* ownChecks(dns, connection.dataDir)
    const told = resolver === undefined
      ? undefined
      : Schema.decodeEither(dnsForwardKind.schema())(resolver)
    if (told !== undefined && Either.isLeft(told)) {
      return [
        ...own,
        fail("resolver", {
          text: "-resolver is not an IP address, with or without a port, or tls://ADDRESS#NAME",
          remedy: "give the address of the resolver, such as 127.0.0.1"
        })
      ]
    }
    const target = told?.right
    const checked = target === undefined ? [] : [yield* resolverCheck({ target, signs: dns?.dnssec ?? false })]
    const outward = [...dns?.forward ?? [], ...target === undefined ? [] : [target]].some(leavesOnPort53)
    return [...own, ...checked, ...outward ? [yield* interceptedCheck()] : []]
  })
