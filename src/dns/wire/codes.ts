/** Numbers of DNS messages (IANA, "Domain Name System (DNS) Parameters"). */

/** RFC 1035, section 4.1.1; RFC 6895, section 2.3. Those above 15 need EDNS, but NOTAUTH's are fields of TSIG. */
export const RCODES = {
  NOERROR: 0,
  FORMERR: 1,
  SERVFAIL: 2,
  NXDOMAIN: 3,
  NOTIMP: 4,
  REFUSED: 5,
  YXDOMAIN: 6,
  NOTAUTH: 9,
  BADVERS: 16,
  BADCOOKIE: 23
} as const

export type RcodeName = keyof typeof RCODES

export const OPCODES = { QUERY: 0, NOTIFY: 4, UPDATE: 5 } as const

export const CLASSES = { IN: 1, CH: 3, ANY: 255 } as const

/** Types of questions and of records that no zone holds. Those of records are in `TYPE_NUMBERS`. */
export const META_TYPES = { OPT: 41, TKEY: 249, TSIG: 250, IXFR: 251, AXFR: 252, ANY: 255 } as const

/** Bits of the second word of a header. */
export const FLAGS = {
  /** The message is a response. */
  QR: 0x8000,
  AA: 0x0400,
  TC: 0x0200,
  RD: 0x0100,
  RA: 0x0080,
  AD: 0x0020,
  CD: 0x0010
} as const

export const HEADER_BYTES = 12

/** The longest message over TCP, and over UDP without EDNS (RFC 1035, section 4.2.1). */
export const MAX_MESSAGE_BYTES = 0xffff
export const PLAIN_UDP_BYTES = 512

export const opcodeOf = (flags: number): number => flags >>> 11 & 15
