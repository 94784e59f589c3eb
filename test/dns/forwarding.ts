import { assert } from "@effect/vitest"
import { Effect, Exit } from "effect"
import type { DnsAnswer, Question } from "../../src/dns/answer.ts"
import { type ForwardSettings, makeForwarder } from "../../src/dns/forward.ts"
import type { Forwarder, ForwardFailed, ForwardOptions } from "../../src/dns/parts.ts"
import type { DnsRecord, RecordSet } from "../../src/dns/records.ts"
import { isAtOrBelow, wireNameText } from "../../src/dns/wire/name.ts"
import { TYPE_NUMBERS } from "../../src/values/records.ts"
import { soa, wireName } from "./fakeDnsServer.ts"

// A forwarder over made-up zones.

const BIT = wireName("bit.")

export const OWN: DnsAnswer = {
  rcode: "NOERROR",
  authoritative: true,
  answer: [],
  authority: [],
  additional: [],
  sources: [],
  isCut: false,
  outside: undefined
}

const NO_NAME: DnsAnswer = { ...OWN, rcode: "NXDOMAIN", authority: [soa("bit.")] }

/** The zones of a node: answers by name, whatever the type. Others do not exist. */
export const zones = (answers: Record<string, Partial<DnsAnswer>>): ForwardOptions<never> => ({
  inZone: (name) => isAtOrBelow(name, BIT),
  own: ({ name }) => {
    const found = answers[wireNameText(name)]
    return Effect.succeed(found === undefined ? NO_NAME : { ...OWN, ...found })
  },
  dnssec: false,
  checkingDisabled: false
})

export const at = ({ port }: { readonly port: number }, host = "127.0.0.1") => ({
  address: { host, port },
  tlsName: undefined
})

export const forwarderTo = (settings: Partial<ForwardSettings>) =>
  makeForwarder({ targets: [], allowed: [], mayAsk: () => true, ...settings })

export const question = (name: string, type: number = TYPE_NUMBERS.A): Question => ({ name: wireName(name), type })

const dataText = (record: DnsRecord): string => {
  if (record.type === "A") return record.address.join(".")
  if (record.type === "opaque") {
    return record.number === TYPE_NUMBERS.A
      ? record.data.join(".")
      : `type ${record.number}`
  }
  return record.type
}

export const lines = (sets: ReadonlyArray<RecordSet>): ReadonlyArray<string> =>
  sets.flatMap(({ owner, records }) => records.map((record) => `${wireNameText(owner)} ${dataText(record)}`))

/** The rcode and the records of the answer. */
export const told = (forwarder: Forwarder, name: string, options = zones({})) =>
  Effect.map(forwarder.complete(question(name), options), ({ answer, isForeign }) => ({
    rcode: answer.rcode,
    answer: lines(answer.answer),
    isForeign,
    authoritative: answer.authoritative
  }))

export const failureOf = (exit: Exit.Exit<unknown, ForwardFailed>): string =>
  Exit.isFailure(exit) && exit.cause._tag === "Fail" ? exit.cause.error.reason : assert.fail("did not fail")
