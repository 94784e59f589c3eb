export const EXAMPLE_TXID = "4fe1cfd5439d1fadb8cce35a4888595c161d7a1922d6191433b4d3e1d1030fa4"

/** An address of another owner. */
export const EXAMPLE_ADDRESS = "n11u97aH3ncjKCvJ6dQ1VuEBjgW1ighwvV"

export const EXAMPLE_OWN_ADDRESS = "N7FdkoPbHSxKfrSVVbRu3NZtrLqc1oKpAR"
