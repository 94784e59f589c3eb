export interface Arrival {
  readonly id: string
  /** The client's name in its greeting. */
  readonly greeting: string
  readonly client: string
  readonly protocol: string
  /** Milliseconds since 1970. */
  readonly at: number
  /** Recipient of this copy, which must not show other recipients. */
  readonly recipient: string
}

const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

const two = (value: number): string => String(value).padStart(2, "0")

/** RFC 5322 3.3, in UTC. `at`: milliseconds since 1970. */
export const mailDate = (at: number): string => {
  const date = new Date(at)
  const time = [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()].map(two).join(":")
  const day = `${DAYS[date.getUTCDay()] ?? ""}, ${two(date.getUTCDate())} ${MONTHS[date.getUTCMonth()] ?? ""}`
  return `${day} ${date.getUTCFullYear()} ${time} +0000`
}

/** Reduced to the characters of host names and address literals. */
const plain = (text: string): string => text.replace(/[^A-Za-z0-9._:[\]-]/g, "?").slice(0, 255)

const literal = (ip: string): string => ip.includes(":") ? `[IPv6:${ip}]` : `[${ip}]`

/** RFC 5321 4.4, with line ends. */
export const receivedField = (arrival: Arrival, hostname: string): string => {
  const { at, client, greeting, id, protocol, recipient } = arrival
  return `Received: from ${plain(greeting)} (${literal(plain(client))})\r\n` +
    `\tby ${hostname} with ${protocol} id ${id}\r\n\tfor <${recipient}>;\r\n\t${mailDate(at)}\r\n`
}

/** Identifies messages forwarded to the same label before. */
export const deliveredToField = (recipient: string): string => `Delivered-To: ${recipient}\r\n`

/** For a message without one; stable per message. */
export const messageIdField = ({ hostname, id }: { readonly id: string; readonly hostname: string }): string =>
  `Message-ID: <${id}@${hostname}>\r\n`
