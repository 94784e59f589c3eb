import { classify, decodeText } from "../protocol/nameText.ts"

/** The most characters of a domain (RFC 1035), with a dot at its end. */
const MAX_DOMAIN = 254

/** What a URL would not take as part of its host. */
const NO_HOST = /[\s/\\?#@:%[\]]/

/**
 * The name that has the records of a `.bit` domain: `d/example` for `example.bit`, for `www.example.bit` and for any other domain
 * below it, whose records are inside its value. Case and a dot at the end do not count, and a label beyond ASCII is that of its
 * `xn--` form. `undefined` if no name can be behind it: another ending, or a label that no domain has.
 */
export const nameOfDomain = (domain: string): string | undefined => {
  if (domain.length > MAX_DOMAIN || NO_HOST.test(domain) || !URL.canParse(`http://${domain}`)) return undefined
  const labels = new URL(`http://${domain}`).hostname.replace(/\.$/, "").split(".")
  const [label, ending] = labels.slice(-2)
  if (label === undefined || ending !== "bit" || labels.includes("")) return undefined
  const name = `d/${label}`
  const bytes = decodeText(name, "ascii")
  return bytes !== undefined && classify(bytes) === "domain" ? name : undefined
}
