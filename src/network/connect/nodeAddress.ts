import * as Either from "effect/Either"
import { type Address, parseHostPort } from "../../base/addresses.ts"
import { formatNetAddress, parseEndpoint } from "../wire/addressText.ts"

/** Parses an operator's name for a peer: an address or a host name, with or without a port. */
export const nodeAddress = (text: string, defaultPort: number): Address | undefined => {
  const endpoint = parseEndpoint(text, defaultPort)
  if (endpoint !== undefined) {
    return endpoint.port === 0 ? undefined : { host: formatNetAddress(endpoint.address), port: endpoint.port }
  }
  const withPort = Either.getOrUndefined(parseHostPort(text, "required"))
  return withPort ?? Either.getOrUndefined(parseHostPort(`${text}:${defaultPort}`, "required"))
}
