import { type Bytes, concat, toHex } from "../../src/protocol/bytes.ts"
import { createSha256, sha256 } from "../../src/protocol/hash.ts"

interface Answer {
  readonly name: Bytes
  readonly value: Bytes
  readonly height: number
}

/** A digest of names with their values and heights, which come by the bytes of the names. */
export class AnswersDigest {
  private readonly sum = createSha256()
  count = 0

  add({ height, name, value }: Answer): void {
    this.count++
    this.sum.update(sha256(concat(name, Uint8Array.of(0), value, new TextEncoder().encode(`${height}`))))
  }

  /** The digest, in hexadecimal. Ends the digest. */
  end(): string {
    return toHex(this.sum.digest())
  }
}

/** A digest of names with their values and heights, by the bytes of the names. */
export const answersDigest = (names: Iterable<Answer>): string => {
  const digest = new AnswersDigest()
  for (const name of names) digest.add(name)
  return digest.end()
}
