import { assert } from "@effect/vitest"
import { createHash } from "node:crypto"
import type { Page } from "./pages.ts"

/** Checks that hold for every page. */

/** Parts of a page beside its own style and script. */
const contentOf = ({ body }: Page): string =>
  body.replace(/<style>.*?<\/style>/s, "").replace(/<script>.*?<\/script>/s, "")

/** Elements of all pages. Any other element was injected. */
const ELEMENTS = new Set(
  ("html head meta title link body a header span form label input button main section h1 h2 p dl div dt dd b time " +
    "table caption thead tr th abbr tbody td code ul li footer bdi i pre details summary nav progress base svg desc rect path small")
    .split(" ")
)

const HANDLER = /\s(?:on\w+|style|src|srcdoc|formaction)=/i

const OWN_ADDRESS =
  /^(?:\?(?:name|hex|q)=[^"<>]*|\.\/(?:(?:blocks|names|mempool|activity|events|block\/|tx\/|address\/)[^"<>]*)?|\.\.\/|[^"<>:]*#main|data:image\/svg\+xml,[^"<>]*)$/

/** Checks that a page has only the elements of the pages. */
export const assertHarmless = (page: Page): void => {
  const content = contentOf(page)
  const foreign: Array<string> = []
  for (const [tag, name = ""] of content.matchAll(/<\/?([^\s>/!]*)[^>]*>/g)) {
    if (!tag.startsWith("<!doctype") && !ELEMENTS.has(name) || HANDLER.test(tag)) foreign.push(tag)
  }
  for (const [, address = ""] of content.matchAll(/\s(?:href|action)="([^"]*)"/g)) {
    if (!OWN_ADDRESS.test(address)) foreign.push(address)
  }
  assert.deepStrictEqual(foreign, [])
  assert.isNull(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/.exec(content)
  )
}

/** Checks that tables say what they list, and that their rows have a cell for each column. */
export const assertTables = ({ body }: Page): void => {
  for (const [table] of body.matchAll(/<table.*?<\/table>/gs)) {
    assert.match(table, /^<table[^>]*><caption class="out">[^<]+<\/caption>\s*<thead>/)
    const columns = table.match(/<th scope="col"/g)?.length
    const rows = [...table.matchAll(/<th scope="row".*?<\/tr>/gs)].map(([row]) => row.match(/<t[hd][ >]/g)?.length)
    assert.deepStrictEqual([...new Set(rows)], [columns])
  }
}

const policyOf = ({ headers }: Page): ReadonlyMap<string, string> =>
  new Map(
    (headers["Content-Security-Policy"] ?? "").split("; ").map((directive) => {
      const [name = "", ...values] = directive.split(" ")
      return [name, values.join(" ")]
    })
  )

const sha256 = (content: string): string => `'sha256-${createHash("sha256").update(content).digest("base64")}'`

/** Checks the headers of every page. */
export const assertGuarded = (page: Page): void => {
  const policy = policyOf(page)
  assert.strictEqual(policy.get("default-src"), "'none'")
  assert.strictEqual(policy.get("frame-ancestors"), "'none'")
  // The base of a page beside the overview is a path of this server.
  const base = /<base href="([^"]*)">/.exec(page.body)?.[1]
  assert.strictEqual(policy.get("base-uri"), base === undefined ? "'none'" : "'self'")
  if (base !== undefined) assert.match(base, /^\.\.?\/$/)
  assert.strictEqual(policy.get("form-action"), "'self'")
  assert.strictEqual(policy.get("connect-src"), "'self'")
  const { headers } = page
  assert.strictEqual(headers["X-Content-Type-Options"], "nosniff")
  assert.strictEqual(headers["Referrer-Policy"], "no-referrer")
  assert.strictEqual(headers["Cache-Control"], "no-store")
  if (page.status === 303) return
  assert.strictEqual(headers["Content-Type"], "text/html; charset=utf-8")
  const [, style = ""] = /<style>(.*?)<\/style>/s.exec(page.body) ?? []
  const [, script = ""] = /<script>(.*?)<\/script>/s.exec(page.body) ?? []
  assert.strictEqual(policy.get("style-src"), sha256(style))
  assert.strictEqual(policy.get("script-src"), sha256(script))
}

/** Checks all that holds for a page of the explorer. */
export const assertFine = (page: Page, status = 200): void => {
  assert.strictEqual(page.status, status)
  assertGuarded(page)
  assertHarmless(page)
  assertTables(page)
}
