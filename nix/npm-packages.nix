# The npm packages of package-lock.json as a project that npm installs without network.
#
# The lock pins each package by the hash of its tarball, and says nothing about where tarballs come from. So each is
# fetched by npm itself, from whatever registry npm asks by default (npm_config_registry names another), as a
# fixed-output derivation of that hash: what is fetched is known before, and there is no second list of hashes to
# maintain beside the lock.
{
  lib,
  stdenvNoCC,
  nodejs,
  cacert,
  writeText,
  runCommand,
  packageJson,
  packageLock,
  # Names of development packages that the build needs; all others are left out.
  isNeededToBuild,
}:
let
  nameOf = path: lib.last (lib.splitString "node_modules/" path);

  isWanted = path: entry: path == "" || !(entry.dev or false) || isNeededToBuild (nameOf path);

  fetch =
    path: entry:
    let
      name = entry.name or (nameOf path);
    in
    stdenvNoCC.mkDerivation {
      name = "${lib.replaceStrings [ "@" "/" ] [ "" "-" ] name}-${entry.version}.tgz";
      nativeBuildInputs = [ nodejs ];
      dontUnpack = true;
      dontFixup = true;
      buildPhase = ''
        runHook preBuild
        export HOME=$TMPDIR
        npm pack --silent --ignore-scripts ${lib.escapeShellArg "${name}@${entry.version}"}
        runHook postBuild
      '';
      installPhase = "mv ./*.tgz $out";
      SSL_CERT_FILE = "${cacert}/etc/ssl/certs/ca-bundle.crt";
      NODE_EXTRA_CA_CERTS = "${cacert}/etc/ssl/certs/ca-bundle.crt";
      impureEnvVars = lib.fetchers.proxyImpureEnvVars ++ [ "npm_config_registry" ];
      outputHashMode = "flat";
      outputHash = entry.integrity;
      outputHashAlgo = null;
    };

  wanted = lib.filterAttrs isWanted packageLock.packages;

  # Optional packages are binaries that svcd does without. They stay in the lock, where npm wants to see them.
  tarballs = lib.mapAttrs fetch (lib.filterAttrs (path: entry: path != "" && !(entry.optional or false)) wanted);

  withSource =
    path: entry:
    if path == "" then
      root
    else
      entry // lib.optionalAttrs (tarballs ? ${path}) { resolved = "file:${tarballs.${path}}"; };

  neededOf = lib.filterAttrs (name: _: isNeededToBuild name);

  root = packageLock.packages."" // {
    devDependencies = neededOf (packageLock.packages."".devDependencies or { });
  };

  project = packageJson // {
    devDependencies = neededOf (packageJson.devDependencies or { });
  };

  lock = packageLock // {
    packages = lib.mapAttrs withSource wanted;
  };
in
runCommand "${packageJson.name}-npm-${packageJson.version}" { passthru = { inherit lock project tarballs; }; } ''
  mkdir $out
  cp ${writeText "package.json" (builtins.toJSON project)} $out/package.json
  cp ${writeText "package-lock.json" (builtins.toJSON lock)} $out/package-lock.json
''
