/** Of no coin: an example of BIP 39, and keys of test vectors. */
export const PHRASE = "legal winner thank year wave sausage worth useful legal winner thank yellow"
export const KEYS = {
  "a key": "5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ",
  "a key of compressed form": "L1aW4aubDFB7yfras2S1mN3bqg9nwySY8nkoLmJebSLD5BWv3ENZ",
  "a key of a test network": "cVpF924EspNh8KjYsfhgY96mmxvT6DgdWiTYMtMjuM74hJaU5psW",
  "a key of Namecoin": "TdcADnsxAwAdLh9BraXfooNcFY3v41NMSHW9jRqtSBvRC8kv96B9",
  "an extended key":
    "xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi",
  "an extended key of a test network":
    "tprv8ZgxMBicQKsPeDgjzdC36fs6bMjGApWDNLR9erAXMs5skhMv36j9MV5ecvfavji5khqjWaWSFhN3YcCUUdiKH6isR4Pwy3U5y5egddBr16m"
}
