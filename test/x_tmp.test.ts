import { it } from "@effect/vitest"
import { encodeAddress } from "../src/protocol/address.ts"
import { mainnet } from "../src/protocol/networks.ts"
it("a", () => { const h = Uint8Array.from(Buffer.from("751e76e8199196d454941c45d1b3a323f1433bd6", "hex")); console.log(encodeAddress(mainnet, { kind: "pubkeyhash", hash: h }), encodeAddress(mainnet, { kind: "witness", version: 0, program: h })) })
