import { type Bytes, equal } from "../protocol/bytes.ts"
import { decodeText, printable } from "../protocol/nameText.ts"
import { nameOfDomain } from "../values/readName.ts"
import { domainZone, zoneFrom } from "../values/zone.ts"
import { answerOf } from "./answer.ts"
import { type AnsweredHost, answeredHost } from "./domainRecords.ts"
import { hostQuestion } from "./hostQuestion.ts"
import { domainNameOf, PLAIN_APEX, WITH_DS } from "./plainZone.ts"

/** The records of a host, from the value of its name alone. */
export interface ValueRecords extends AnsweredHost {
  /** Other names that the value imports or points to. They are read as if they did not exist. */
  readonly missing: ReadonlyArray<string>
}

/** The host or the type is invalid: what to do about it. */
export interface RecordsFault {
  readonly failed: string
}

/**
 * The DNS records of a host below `.bit` in the value of its name, as the DNS server of svcd answers them. The type is a
 * word, such as `A` or `TYPE65`.
 */
// positional: as in `dns.resolve`
export const recordsOfValue = (value: string, host: string, type: string): ValueRecords | RecordsFault => {
  const question = hostQuestion(host, type)
  if ("reason" in question) return { failed: `the ${question.field} has to ${question.reason}` }
  const own = decodeText(nameOfDomain(host) ?? "", "ascii")
  const bytes = new TextEncoder().encode(value)
  const missing = new Set<string>()
  const valueOf = (name: Bytes): Bytes | undefined => {
    if (own !== undefined && equal(name, own)) return bytes
    missing.add(printable(name))
    return undefined
  }
  const work = answerOf(PLAIN_APEX, question, WITH_DS)
  let step = work.next()
  while (step.done !== true) {
    const label = step.value
    const name = domainNameOf(label)
    const found = name === undefined ? undefined : valueOf(name)
    step = work.next(
      name === undefined || found === undefined
        ? undefined
        : zoneFrom(domainZone({ name, value: found, host: `${label}.bit.` }), valueOf)
    )
  }
  return { ...answeredHost(step.value, question.type), missing: [...missing] }
}
