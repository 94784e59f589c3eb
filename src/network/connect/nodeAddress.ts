import * as Either from "effect/Either"
import { type Address, parseHostPort } from "../../base/addresses.ts"
import { formatNetAddress, parseEndpoint } from "../wire/addressText.ts"

const NUMBER = /^(?:0x[0-9a-f]+|0[0-7]*|[1-9][0-9]*)$/i

/** A number as C writes it: decimal, octal after a 0, hexadecimal after 0x. */
const parsedNumber = (text: string): number =>
  !NUMBER.test(text) ? NaN : /^0[0-7]/.test(text) ? Number.parseInt(text, 8) : Number(text)

/** Completes a short IPv4 address, whose last number fills the missing ones: 127.1. Other texts stay. */
const spelledOut = (text: string): string => {
  const [, host = "", port = ""] = /^([^:]*)(:[0-9]+)?$/.exec(text) ?? []
  const numbers = host.split(".").map(parsedNumber)
  const last = numbers.pop() ?? NaN
  const missing = 4 - numbers.length
  if (missing < 1 || !(last < 256 ** missing) || !numbers.every((number) => number < 256)) return text
  const filled = Array.from({ length: missing }, (_, i) => Math.floor(last / 256 ** (missing - 1 - i)) % 256)
  return `${[...numbers, ...filled].join(".")}${port}`
}

/** Parses an operator's name for a peer: an address or host name, with or without a port. */
export const nodeAddress = (text: string, defaultPort: number): Address | undefined => {
  const endpoint = parseEndpoint(spelledOut(text), defaultPort)
  if (endpoint !== undefined) {
    return endpoint.port === 0 ? undefined : { host: formatNetAddress(endpoint.address), port: endpoint.port }
  }
  const withPort = Either.getOrUndefined(parseHostPort(text, "required"))
  return withPort ?? Either.getOrUndefined(parseHostPort(`${text}:${defaultPort}`, "required"))
}
