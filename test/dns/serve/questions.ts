/** Questions and answers for tests of the transports, byte by byte. */

interface QuestionOptions {
  readonly id?: number
  readonly type?: number
}

/** A query for one name in class IN. */
export const questionFor = (name: string, { id = 1, type = 1 }: QuestionOptions = {}): Buffer => {
  const labels = name.split(".").map((label) => Buffer.from([label.length, ...Buffer.from(label, "latin1")]))
  return Buffer.concat([
    Buffer.from([id >> 8, id & 0xff, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]),
    ...labels,
    Buffer.from([0, type >> 8, type & 0xff, 0, 1])
  ])
}

interface AnswerOptions {
  readonly rcode?: number
  /** Of each A record. */
  readonly ttls?: ReadonlyArray<number>
}

/** An authoritative answer with A records at the name of the question. */
export const answerOf = (
  question: Uint8Array,
  { rcode = 0, ttls = rcode === 0 ? [600] : [] }: AnswerOptions = {}
): Buffer => {
  const records = ttls.map((ttl) => {
    const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 192, 0, 2, 1])
    record.writeUInt32BE(ttl, 6)
    return record
  })
  const whole = Buffer.concat([question, ...records])
  whole[2] = 0x84
  whole[3] = rcode
  whole[7] = ttls.length
  return whole
}

export const nameIn = (query: Uint8Array): string => {
  const labels: Array<string> = []
  for (let at = 12; (query[at] ?? 0) !== 0; at += 1 + (query[at] ?? 0)) {
    labels.push(Buffer.from(query.subarray(at + 1, at + 1 + (query[at] ?? 0))).toString("latin1"))
  }
  return labels.join(".")
}
