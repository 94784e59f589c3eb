{
  description = "svcd: a Namecoin full node, wallet and embeddable name client";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs =
    { self, nixpkgs }:
    let
      inherit (nixpkgs) lib;
      systems = [
        "x86_64-linux"
        "aarch64-linux"
        "x86_64-darwin"
        "aarch64-darwin"
      ];
      forEachSystem = make: lib.genAttrs systems (system: make system nixpkgs.legacyPackages.${system});

      programs = {
        svcd = "Namecoin full node";
        svcd-cli = "Asks a running svcd";
        svcd-wallet = "Looks after a wallet";
        svcd-mail = "Mail to names";
        svcd-export = "Keeps the names in PostgreSQL";
      };
    in
    {
      packages = forEachSystem (
        system: pkgs: rec {
          default = svcd;
          svcd = pkgs.callPackage ./nix/package.nix { };
        }
      );

      apps = forEachSystem (
        system: _:
        let
          app = program: description: {
            type = "app";
            program = "${self.packages.${system}.svcd}/bin/${program}";
            meta = { inherit description; };
          };
        in
        lib.mapAttrs app programs // { default = app "svcd" programs.svcd; }
      );

      # Node, and what compiles libsecp256k1 against it on platforms without a binary; then as anywhere: scripts/test.
      devShells = forEachSystem (
        system: pkgs: {
          default = pkgs.mkShell {
            packages = [
              pkgs.nodejs_24
              pkgs.python3
              pkgs.gnumake
              pkgs.sqlite
              pkgs.prometheus
            ];
            env.npm_config_nodedir = "${lib.getDev pkgs.nodejs_24}";
          };
        }
      );

      nixosModules = rec {
        default = svcd;
        svcd = import ./nix/module.nix { inherit self; };
      };

      # `nix flake check` builds these.
      checks = forEachSystem (
        system: pkgs:
        { package = self.packages.${system}.svcd; }
        // lib.optionalAttrs pkgs.stdenv.hostPlatform.isLinux {
          service = pkgs.testers.runNixOSTest (import ./nix/test.nix { inherit self; });
        }
      );
    };
}
