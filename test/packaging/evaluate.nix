# What flake.nix comes to, as far as a test looks at it. `service` are definitions of services.svcd, in JSON.
{ service }:
let
  nixpkgs = import ./nixpkgs.nix;
  outputs = (import ../../flake.nix).outputs { inherit nixpkgs; self = outputs; };
  systems = builtins.attrNames outputs.packages;
  forEach = nixpkgs.lib.genAttrs systems;
  pkgs = nixpkgs.legacyPackages.x86_64-linux;
in
{
  flake = {
    inherit systems;
    packages = forEach (system: {
      inherit (outputs.packages.${system}.default) pname version configurePhase buildPhase installPhase meta;
      inherit (outputs.packages.${system}.default.npmPackages) lock project;
      tarballs = builtins.mapAttrs (_: { outputHash, outputHashMode, buildPhase, ... }: {
        inherit outputHash outputHashMode buildPhase;
      }) outputs.packages.${system}.default.npmPackages.tarballs;
    });
    apps = forEach (system: builtins.mapAttrs (_: app: "${app.type} ${app.program}") outputs.apps.${system});
    shells = forEach (system: map (tool: tool.name) outputs.devShells.${system}.default.packages);
    checks = forEach (system: builtins.mapAttrs (_: check: check.name or check.pname) outputs.checks.${system});
  };
  virtualMachine = (outputs.checks.x86_64-linux.service.nodes.machine { inherit pkgs; }).services.svcd;
  service = nixpkgs.lib.evalModule outputs.nixosModules.default pkgs (builtins.fromJSON service);
}
