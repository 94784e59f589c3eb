{
  description = "svcd: a Namecoin full node, wallet and embeddable name client";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      forEachSystem = make: nixpkgs.lib.genAttrs systems (system: make nixpkgs.legacyPackages.${system});

      # Node, and what compiles SQLite and libsecp256k1 against it where there is no prebuilt binary.
      toolchain = pkgs: [ pkgs.coreutils pkgs.nodejs_22 pkgs.python3 pkgs.gnumake pkgs.stdenv.cc ];
    in
    {
      # Builds this source once, in the user's cache, with npm: package-lock.json pins every package by its hash but does
      # not say where packages come from, which a build without network would have to know.
      packages = forEachSystem (pkgs: rec {
        default = svcd;
        svcd = pkgs.writeShellApplication {
          name = "svcd";
          runtimeInputs = toolchain pkgs;
          text = ''
            home="''${XDG_CACHE_HOME:-$HOME/.cache}/svcd/$(basename ${self})"
            if [ ! -e "$home/built" ]; then
              mkdir -p "$home"
              cp -r --no-preserve=mode,ownership ${self}/. "$home"
              (
                cd "$home"
                export npm_config_nodedir=${pkgs.nodejs_22}
                npm ci --no-audit --no-fund
                npm run build
                touch built
              ) >&2
            fi
            exec node "$home/build/src/bin/svcd.js" "$@"
          '';
        };
      });

      apps = forEachSystem (pkgs: rec {
        default = svcd;
        svcd = {
          type = "app";
          program = "${self.packages.${pkgs.stdenv.hostPlatform.system}.svcd}/bin/svcd";
        };
      });

      devShells = forEachSystem (pkgs: {
        default = pkgs.mkShell { packages = toolchain pkgs ++ [ pkgs.sqlite ]; };
      });
    };
}
