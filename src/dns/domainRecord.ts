/** DNS records as programs and JSON have them. `data` is the text of a zone file; the other fields are its parts. */

interface Common<Type extends string> {
  /** The owner, absolute and in lower case: `www.example.bit.`. */
  readonly name: string
  readonly type: Type
  /** Seconds. */
  readonly ttl: number
  /** As a zone file has it: `10 mail.example.bit.`. */
  readonly data: string
}

/** Hosts end in a dot; bytes are hexadecimal digits in lower case. */
export type DomainRecord =
  | Common<"A" | "AAAA"> & { readonly address: string }
  | Common<"CNAME" | "DNAME" | "NS"> & { readonly target: string }
  | Common<"MX"> & { readonly preference: number; readonly target: string }
  | Common<"SRV"> & {
    readonly priority: number
    readonly weight: number
    readonly port: number
    readonly target: string
  }
  /** Bytes that are not UTF-8 show as U+FFFD; `data` has them as escapes. */
  | Common<"TXT"> & { readonly strings: ReadonlyArray<string> }
  | Common<"TLSA"> & {
    readonly usage: number
    readonly selector: number
    readonly matchingType: number
    /** The certificate association data. */
    readonly association: string
  }
  | Common<"DS"> & {
    readonly keyTag: number
    readonly algorithm: number
    readonly digestType: number
    readonly digest: string
  }
  | Common<"SSHFP"> & {
    readonly algorithm: number
    readonly fingerprintType: number
    readonly fingerprint: string
  }
  | Common<"LOC">
  /** Another type, with its data as RFC 3597 prints it. */
  | Common<`TYPE${number}`>

export const DOMAIN_STATUSES = ["records", "no-data", "no-name", "delegated", "alias-outside"] as const

/**
 * `records`: there are records of the type. `no-data`: the host exists, without a record of the type. `no-name`: the
 * host does not exist. `delegated`: name servers of the owner answer for the host. `alias-outside`: the host is an alias
 * of one outside `.bit`.
 */
export type DomainStatus = (typeof DOMAIN_STATUSES)[number]
