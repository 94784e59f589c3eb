import type { Bytes } from "./bytes.ts"
import { concat } from "./bytes.ts"

/** Upstream names (`script/script.h`). The name opcodes are OP_1 to OP_3 (reference/protocol.md 4.1). */
export const Op = {
  OP_0: 0x00,
  OP_PUSHDATA1: 0x4c,
  OP_PUSHDATA2: 0x4d,
  OP_PUSHDATA4: 0x4e,
  OP_1NEGATE: 0x4f,
  OP_RESERVED: 0x50,
  OP_1: 0x51,
  OP_2: 0x52,
  OP_3: 0x53,
  OP_4: 0x54,
  OP_5: 0x55,
  OP_6: 0x56,
  OP_7: 0x57,
  OP_8: 0x58,
  OP_9: 0x59,
  OP_10: 0x5a,
  OP_11: 0x5b,
  OP_12: 0x5c,
  OP_13: 0x5d,
  OP_14: 0x5e,
  OP_15: 0x5f,
  OP_16: 0x60,
  OP_NOP: 0x61,
  OP_VER: 0x62,
  OP_IF: 0x63,
  OP_NOTIF: 0x64,
  OP_VERIF: 0x65,
  OP_VERNOTIF: 0x66,
  OP_ELSE: 0x67,
  OP_ENDIF: 0x68,
  OP_VERIFY: 0x69,
  OP_RETURN: 0x6a,
  OP_TOALTSTACK: 0x6b,
  OP_FROMALTSTACK: 0x6c,
  OP_2DROP: 0x6d,
  OP_2DUP: 0x6e,
  OP_3DUP: 0x6f,
  OP_2OVER: 0x70,
  OP_2ROT: 0x71,
  OP_2SWAP: 0x72,
  OP_IFDUP: 0x73,
  OP_DEPTH: 0x74,
  OP_DROP: 0x75,
  OP_DUP: 0x76,
  OP_NIP: 0x77,
  OP_OVER: 0x78,
  OP_PICK: 0x79,
  OP_ROLL: 0x7a,
  OP_ROT: 0x7b,
  OP_SWAP: 0x7c,
  OP_TUCK: 0x7d,
  OP_CAT: 0x7e,
  OP_SUBSTR: 0x7f,
  OP_LEFT: 0x80,
  OP_RIGHT: 0x81,
  OP_SIZE: 0x82,
  OP_INVERT: 0x83,
  OP_AND: 0x84,
  OP_OR: 0x85,
  OP_XOR: 0x86,
  OP_EQUAL: 0x87,
  OP_EQUALVERIFY: 0x88,
  OP_RESERVED1: 0x89,
  OP_RESERVED2: 0x8a,
  OP_1ADD: 0x8b,
  OP_1SUB: 0x8c,
  OP_2MUL: 0x8d,
  OP_2DIV: 0x8e,
  OP_NEGATE: 0x8f,
  OP_ABS: 0x90,
  OP_NOT: 0x91,
  OP_0NOTEQUAL: 0x92,
  OP_ADD: 0x93,
  OP_SUB: 0x94,
  OP_MUL: 0x95,
  OP_DIV: 0x96,
  OP_MOD: 0x97,
  OP_LSHIFT: 0x98,
  OP_RSHIFT: 0x99,
  OP_BOOLAND: 0x9a,
  OP_BOOLOR: 0x9b,
  OP_NUMEQUAL: 0x9c,
  OP_NUMEQUALVERIFY: 0x9d,
  OP_NUMNOTEQUAL: 0x9e,
  OP_LESSTHAN: 0x9f,
  OP_GREATERTHAN: 0xa0,
  OP_LESSTHANOREQUAL: 0xa1,
  OP_GREATERTHANOREQUAL: 0xa2,
  OP_MIN: 0xa3,
  OP_MAX: 0xa4,
  OP_WITHIN: 0xa5,
  OP_RIPEMD160: 0xa6,
  OP_SHA1: 0xa7,
  OP_SHA256: 0xa8,
  OP_HASH160: 0xa9,
  OP_HASH256: 0xaa,
  OP_CODESEPARATOR: 0xab,
  OP_CHECKSIG: 0xac,
  OP_CHECKSIGVERIFY: 0xad,
  OP_CHECKMULTISIG: 0xae,
  OP_CHECKMULTISIGVERIFY: 0xaf,
  OP_NOP1: 0xb0,
  OP_CHECKLOCKTIMEVERIFY: 0xb1,
  OP_CHECKSEQUENCEVERIFY: 0xb2,
  OP_NOP4: 0xb3,
  OP_NOP5: 0xb4,
  OP_NOP6: 0xb5,
  OP_NOP7: 0xb6,
  OP_NOP8: 0xb7,
  OP_NOP9: 0xb8,
  OP_NOP10: 0xb9,
  OP_CHECKSIGADD: 0xba,
  OP_INVALIDOPCODE: 0xff
} as const

/** Longest script that can be executed (consensus). */
export const MAX_SCRIPT_SIZE = 10_000

/** Longest stack element from a push (consensus). */
export const MAX_SCRIPT_ELEMENT_SIZE = 520

/** `next` returns false at the end and at a truncated push, which sets `failed`. */
export class ScriptCursor {
  script: Bytes
  offset: number
  opcode = 0
  /** Pushed bytes are from `dataStart` to `offset`: empty if the opcode pushes no bytes of the script. */
  dataStart = 0
  failed = false

  constructor(script: Bytes, offset = 0) {
    this.script = script
    this.offset = offset
  }

  begin(script: Bytes, offset = 0): void {
    this.script = script
    this.offset = offset
    this.opcode = 0
    this.dataStart = 0
    this.failed = false
  }

  next(): boolean {
    const { script } = this
    let at = this.offset
    if (at >= script.length) return false
    const opcode = script[at++] ?? 0
    this.opcode = opcode
    let size = 0
    if (opcode <= Op.OP_PUSHDATA4) {
      if (opcode < Op.OP_PUSHDATA1) size = opcode
      else {
        const width = opcode === Op.OP_PUSHDATA1 ? 1 : opcode === Op.OP_PUSHDATA2 ? 2 : 4
        if (script.length - at < width) return this.fail()
        for (let i = width - 1; i >= 0; i--) size = size * 256 + (script[at + i] ?? 0)
        at += width
      }
      if (size > script.length - at) return this.fail()
    }
    this.dataStart = at
    this.offset = at + size
    return true
  }

  get data(): Uint8Array {
    return this.script.subarray(this.dataStart, this.offset)
  }

  private fail(): false {
    this.failed = true
    return false
  }
}

/** The shortest push of `data` by length alone, as in name scripts: a single byte never becomes OP_1 to OP_16. */
export const pushData = (data: Bytes): Uint8Array => {
  const size = data.length
  if (size < Op.OP_PUSHDATA1) return concat(Uint8Array.of(size), data)
  if (size <= 0xff) return concat(Uint8Array.of(Op.OP_PUSHDATA1, size), data)
  if (size <= 0xffff) return concat(Uint8Array.of(Op.OP_PUSHDATA2, size & 0xff, size >> 8), data)
  return concat(
    Uint8Array.of(Op.OP_PUSHDATA4, size & 0xff, (size >> 8) & 0xff, (size >> 16) & 0xff, size >>> 24),
    data
  )
}

export const isPayToPubkeyHash = (script: Bytes): boolean =>
  script.length === 25 && script[0] === Op.OP_DUP && script[1] === Op.OP_HASH160 && script[2] === 20 &&
  script[23] === Op.OP_EQUALVERIFY && script[24] === Op.OP_CHECKSIG

/** BIP 16. */
export const isPayToScriptHash = (script: Bytes): boolean =>
  script.length === 23 && script[0] === Op.OP_HASH160 && script[1] === 20 && script[22] === Op.OP_EQUAL

/** The version of a witness program (BIP 141), which is `script.subarray(2)`; -1 for other scripts. */
export const witnessVersion = (script: Bytes): number => {
  if (script.length < 4 || script.length > 42) return -1
  const opcode = script[0] ?? 0
  if (opcode !== Op.OP_0 && (opcode < Op.OP_1 || opcode > Op.OP_16)) return -1
  if ((script[1] ?? 0) + 2 !== script.length) return -1
  return opcode === Op.OP_0 ? 0 : opcode - Op.OP_1 + 1
}

/**
 * Begins with OP_RETURN or is too long, so the output never becomes a coin. Checks the whole script with its name
 * prefix (reference/protocol.md 5.2).
 */
export const isUnspendable = (script: Bytes): boolean => script[0] === Op.OP_RETURN || script.length > MAX_SCRIPT_SIZE

/** Whether every instruction is a push. OP_RESERVED counts as one, as in upstream's `IsPushOnly`. */
export const isPushOnly = (script: Bytes): boolean => {
  const cursor = new ScriptCursor(script)
  while (cursor.next()) if (cursor.opcode > Op.OP_16) return false
  return !cursor.failed
}
