import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { formatHostPort } from "../../base/addresses.ts"
import { monotonic } from "../../base/clock.ts"
import { grouped } from "../../base/quantities.ts"
import { Dns } from "../../dns/Dns.ts"
import type { DnsAddresses } from "../../dns/serve/DnsServer.ts"
import type { Secondary } from "../../dns/transfer/Secondaries.ts"
import { DNS_RCODES, DNS_TRANSPORTS, dnsAnswers, dnsQueries } from "../../metrics/dnsMetrics.ts"
import { ago } from "../format.ts"
import { type Html, html } from "../html.ts"
import { row } from "../parts.ts"

/** What the node serves by DNS. */

export interface DnsNow {
  readonly addresses: DnsAddresses
  /** Rate of the last seconds; `undefined` until there are two counts. */
  readonly perSecond: number | undefined
  /** Without those that never occurred. */
  readonly answers: ReadonlyArray<readonly [rcode: string, count: number]>
  readonly serial: number
  readonly keyTags: ReadonlyArray<number>
  readonly secondaries: ReadonlyArray<Secondary>
}

/** Milliseconds over which questions are counted at least. */
const LEAST_SPAN = 5_000

const SECONDARIES = 8

/** `undefined` for a node without DNS. */
export const makeDnsNow: Effect.Effect<Effect.Effect<DnsNow | undefined>> = Effect.map(
  Effect.serviceOption(Dns),
  Option.match({
    onNone: () => Effect.succeed(undefined),
    onSome: ({ addresses, keyTags, secondaries, serial }) => {
      const questions = (): number => DNS_TRANSPORTS.reduce((sum, each) => sum + dnsQueries.of(each).value(), 0)
      let before = { at: monotonic(), count: questions() }
      let perSecond: number | undefined
      return Effect.sync(() => {
        const now = { at: monotonic(), count: questions() }
        if (now.at - before.at >= LEAST_SPAN) {
          perSecond = ((now.count - before.count) * 1000) / (now.at - before.at)
          before = now
        }
        return {
          addresses,
          perSecond,
          answers: DNS_RCODES.map((rcode) => [rcode, dnsAnswers.of(rcode).value()] as const)
            .filter(([, count]) => count > 0),
          serial: serial(),
          keyTags: keyTags(),
          secondaries: secondaries().slice(0, SECONDARIES)
        }
      })
    }
  })
)

const addressesText = ({ dns, http, https, tls }: DnsAddresses): string => {
  const lists = [["", dns], ["TLS ", tls], ["HTTPS ", https], ["HTTP ", http]] as const
  return lists.flatMap(([word, list]) => list.map((address) => word + formatHostPort(address))).join(", ")
}

const rateText = (perSecond: number): string =>
  `${perSecond < 10 ? perSecond.toFixed(1) : grouped(Math.round(perSecond))} a second`

const secondaryView = (now: number, { address, at, serial }: Secondary): Html =>
  html`<li>${address}, serial ${grouped(serial)}, ${ago(Math.floor(at / 1000), { now })}</li>`

export const dnsView = (dns: DnsNow, now: number): Html =>
  html`<section id="dns" class="card" aria-labelledby="dns-title">
<h2 id="dns-title">DNS</h2>
<dl class="record">${row("Addresses", html`${addressesText(dns.addresses)}`)}${
    dns.perSecond !== undefined && row("Questions", html`${rateText(dns.perSecond)}`)
  }${
    dns.answers.length > 0 &&
    row("Answers", html`${dns.answers.map(([rcode, count]) => `${grouped(count)} ${rcode}`).join(", ")}`)
  }${row("Serial", html`${grouped(dns.serial)}`)}${
    dns.keyTags.length > 0 && row("Key tags", html`${dns.keyTags.join(", ")}`)
  }${
    dns.secondaries.length > 0 &&
    row("Secondaries", html`<ul>${dns.secondaries.map((each) => secondaryView(now, each))}</ul>`)
  }</dl>
</section>`
