import { secp256k1 } from "@noble/curves/secp256k1.js"
import { addressOf } from "../address.ts"
import { type Bytes, concat, toHex } from "../bytes.ts"
import { miniscriptText } from "../miniscript/decode.ts"
import type { Network } from "../networks.ts"
import { type ScriptTemplate, scriptTemplate } from "../scriptType.ts"

// Output descriptors that follow from a script alone, without a wallet's keys and scripts. BIP 380 to 386; upstream
// `script/descriptor.cpp`.

/**
 * The characters of a descriptor, in rows of 32. The checksum code gets each character's position in its row, and after
 * every three characters a symbol of their row numbers.
 */
const INPUT_CHARACTERS = "0123456789()[],'/*abcdefgh@:$%{}" +
  "IJKLMNOPQRSTUVWXYZ&+-.;<=>?!^_|~" +
  "ijklmnopqrstuvwxyzABCDEFGH`#\"\\ "

const CHECKSUM_CHARACTERS = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"

const CHECKSUM_LENGTH = 8

const POSITIONS = Int8Array.from(
  { length: 128 },
  (_, code) => INPUT_CHARACTERS.indexOf(String.fromCharCode(code))
)

/** The generator of the code, times 1, 2, 4, 8 and 16: 40 bits each, as two 20-bit numbers (BIP 380). */
const GENERATOR: ReadonlyArray<readonly [number, number]> = [
  [0xf5dee, 0x51989],
  [0xa9fdc, 0xa3312],
  [0x1bab1, 0x0e32d],
  [0x3706b, 0x1677a],
  [0x644d6, 0x26ffd]
]

/** The remainder of a polynomial over 32 elements: eight 5-bit coefficients in two halves. */
class Remainder {
  high = 0
  low = 1

  add(value: number): void {
    const top = this.high >>> 15
    let high = ((this.high & 0x7fff) << 5) | (this.low >>> 15)
    let low = ((this.low & 0x7fff) << 5) ^ value
    for (let bit = 0; bit < GENERATOR.length; bit++) {
      if (((top >>> bit) & 1) === 0) continue
      const [generatorHigh, generatorLow] = GENERATOR[bit] ?? [0, 0]
      high ^= generatorHigh
      low ^= generatorLow
    }
    this.high = high
    this.low = low
  }

  coefficient(at: number): number {
    return at < 4 ? (this.low >>> (5 * at)) & 31 : (this.high >>> (5 * (at - 4))) & 31
  }
}

/** `undefined` for a character outside the alphabet. */
export const descriptorChecksum = (descriptor: string): string | undefined => {
  const remainder = new Remainder()
  let rows = 0
  let count = 0
  for (let i = 0; i < descriptor.length; i++) {
    const position = POSITIONS[descriptor.charCodeAt(i)] ?? -1
    if (position === -1) return undefined
    remainder.add(position & 31)
    rows = rows * 3 + (position >> 5)
    if (++count === 3) {
      remainder.add(rows)
      rows = 0
      count = 0
    }
  }
  if (count > 0) remainder.add(rows)
  for (let i = 0; i < CHECKSUM_LENGTH; i++) remainder.add(0)
  // Without this, zeros at the end would not change the checksum.
  remainder.low ^= 1
  let text = ""
  for (let at = CHECKSUM_LENGTH - 1; at >= 0; at--) text += CHECKSUM_CHARACTERS[remainder.coefficient(at)]
  return text
}

const withChecksum = (descriptor: string): string => `${descriptor}#${descriptorChecksum(descriptor) ?? ""}`

/** Hybrid keys, which repeat the parity of y in their first byte, have no descriptor. */
const isHybrid = (key: Bytes): boolean => key[0] === 0x06 || key[0] === 0x07

const isOnCurve = (x: Bytes): boolean => {
  try {
    secp256k1.Point.fromBytes(concat(Uint8Array.of(0x02), x))
    return true
  } catch {
    return false
  }
}

const keyDescriptor = (template: ScriptTemplate): string | undefined => {
  switch (template.type) {
    case "pubkey":
      return isHybrid(template.pubkey) ? undefined : `pk(${toHex(template.pubkey)})`
    case "multisig": {
      const { pubkeys, required } = template
      return pubkeys.some(isHybrid) ? undefined : `multi(${[required, ...pubkeys.map(toHex)].join(",")})`
    }
    case "witness_v1_taproot":
      return isOnCurve(template.key) ? `rawtr(${toHex(template.key)})` : undefined
    default:
      return undefined
  }
}

/**
 * From visible keys, else the address of the whole script, else raw hex. As upstream, takes the keys of a name output
 * from the script after its prefix, and leaves out the name. Source: upstream `script/descriptor.cpp`,
 * `InferDescriptor`.
 */
export const descriptorOf = (network: Network, script: Bytes): string => {
  const byKeys = keyDescriptor(scriptTemplate(script))
  if (byKeys !== undefined) return withChecksum(byKeys)
  // The address of the whole script. The part after a name prefix may have one, but is not the whole script.
  const address = addressOf(network, script)
  return withChecksum(address === undefined ? `raw(${toHex(script)})` : `addr(${address})`)
}

/** `wsh` of a multisig or miniscript; `undefined` for other witness scripts. */
export const witnessDescriptorOf = (witnessScript: Bytes): string | undefined => {
  const template = scriptTemplate(witnessScript)
  const inner = (template.type === "multisig" ? keyDescriptor(template) : undefined) ?? miniscriptText(witnessScript)
  return inner === undefined ? undefined : withChecksum(`wsh(${inner})`)
}
