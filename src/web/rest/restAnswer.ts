import type { PageAnswer } from "../../http/Pages.ts"

/** Values of names are foreign content: browsers must not guess that they are pages. */
export const restAnswer = (status: number, type: string, body: string | Uint8Array): PageAnswer => ({
  status,
  headers: { "Content-Type": type, "X-Content-Type-Options": "nosniff" },
  body
})

export const restFailure = (status: number, text: string): PageAnswer => restAnswer(status, "text/plain", `${text}\r\n`)
