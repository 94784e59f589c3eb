import * as Effect from "effect/Effect"
import { badRequest, CODE, ElectrumError } from "../protocol/ElectrumError.ts"
import { shownValue } from "../protocol/pythonText.ts"
import { negotiate, PROTOCOL_MAX, PROTOCOL_MIN } from "../protocol/versions.ts"
import type { ElectrumFacts, ElectrumMethod, Sources } from "./method.ts"
import { takes } from "./method.ts"

const featuresOf = ({ fingerprint, genesis, hosts, pruning, services, software }: ElectrumFacts) => ({
  hosts: hosts(),
  pruning: pruning(),
  server_version: software,
  protocol_min: PROTOCOL_MIN,
  protocol_max: PROTOCOL_MAX,
  genesis_hash: genesis,
  hash_function: "sha256",
  services: services(),
  certificate_sha256: fingerprint()
})

/** Methods about the server itself. */
export const electrumAbout = ({ facts }: Sources): ReadonlyArray<ElectrumMethod> => [
  {
    name: "server.version",
    group: "server",
    signature: { required: [], optional: ["client_name", "protocol_version"], isOpen: true },
    call: ([, asked], caller) =>
      Effect.suspend(() => {
        caller.charge(0.5)
        const agreed = negotiate(asked)
        if (agreed === undefined) {
          return new ElectrumError({
            code: CODE.badRequest,
            message: `unsupported protocol version: ${shownValue(asked ?? null)}`,
            closes: true
          })
        }
        caller.speaks(agreed.version)
        return Effect.succeed([facts.software, agreed.text])
      })
  },
  {
    name: "server.features",
    group: "server",
    signature: takes(),
    call: (_, { charge }) =>
      Effect.sync(() => {
        charge(0.2)
        return featuresOf(facts)
      })
  },
  {
    name: "server.banner",
    group: "server",
    signature: takes(),
    call: (_, { charge }) =>
      Effect.sync(() => {
        charge(0.5)
        return facts.banner()
      })
  },
  {
    name: "server.donation_address",
    group: "server",
    signature: takes(),
    call: (_, { charge }) =>
      Effect.sync(() => {
        charge(0.1)
        return ""
      })
  },
  {
    name: "server.ping",
    group: "server",
    signature: takes([], ["pong_len", "data"]),
    call: (_, { charge }) =>
      Effect.sync(() => {
        charge(0.1)
        return null
      })
  },
  {
    name: "server.peers.subscribe",
    group: "server",
    signature: takes(),
    call: (_, { charge }) =>
      Effect.sync(() => {
        charge(1)
        return []
      })
  },
  {
    name: "server.add_peer",
    group: "server",
    signature: takes(["features"]),
    call: (_, { charge }) =>
      Effect.sync(() => {
        charge(100)
        return false
      })
  }
]

export const versionSentTwice = (): ElectrumError => badRequest("server.version already sent")

export const versionNotFirst = (): ElectrumError =>
  new ElectrumError({ code: CODE.badRequest, message: "use server.version to identify client", closes: true })
