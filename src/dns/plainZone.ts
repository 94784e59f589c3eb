import type { Bytes } from "../protocol/bytes.ts"
import { classify, decodeText } from "../protocol/nameText.ts"
import type { Apex } from "./answer.ts"
import { wireNameOfHost } from "./wire/name.ts"

/** The zone of answers for callers that are not DNS. */

export const TTL_SECONDS = 600

const OWN_HOST = wireNameOfHost("this.x--nmc.bit.")

/** Has none of the records of `bit.` itself. */
export const PLAIN_APEX: Apex = {
  origin: wireNameOfHost("bit."),
  soa: {
    type: "SOA",
    mname: OWN_HOST,
    rname: wireNameOfHost("hostmaster.this.x--nmc.bit."),
    serial: 0,
    refresh: 600,
    retry: 600,
    expire: 7200,
    minimum: 60
  },
  servers: [OWN_HOST],
  keys: [],
  ownHosts: false,
  ttl: TTL_SECONDS
}

/** Referrals have DS only with proof. */
export const WITH_DS = { proof: true }

/** The name of a label below `bit.`; `undefined` if no name can have it. */
export const domainNameOf = (label: string): Bytes | undefined => {
  const name = decodeText(`d/${label}`, "ascii")
  return name === undefined || classify(name) !== "domain" ? undefined : name
}
