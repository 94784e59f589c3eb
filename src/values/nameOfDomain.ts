import { classify, decodeText } from "../protocol/nameText.ts"

/** RFC 1035, with a dot at the end. */
const MAX_DOMAIN = 254

/** Characters that a URL does not take as part of its host. */
const NO_HOST = /[\s/\\?#@:%[\]]/

/**
 * The name with the records of a `.bit` domain: `d/example` for `example.bit` and any domain below it. Ignores case and
 * a dot at the end; a label beyond ASCII becomes its `xn--` form. `undefined` for another ending or an invalid label.
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
