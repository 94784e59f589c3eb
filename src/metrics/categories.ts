import type { Facts, MetricName } from "./families.ts"

/** Headings of docs/metrics.md. */
const CATEGORIES = [
  "block processing",
  "name operations",
  "DNS",
  "Electrum",
  "network",
  "transactions",
  "validation errors",
  "database performance",
  "RPC performance",
  "error breakdown",
  "runtime"
] as const

type Category = typeof CATEGORIES[number]

export const facts = (category: Category, name: MetricName, help: string): Facts => ({ category, name, help })
