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
  # Names of development packages that the programs load. For npm they are development packages, because the published
  # bundles contain them; here the programs start unbundled, so they become dependencies.
  programPackages,
}:
let
  nameOf = path: lib.last (lib.splitString "node_modules/" path);

  # The path of the package that one at `from` gets by a name: in the nearest folder outwards, as Node searches.
  findPackage =
    from: name:
    let
      path = if from == "" then "node_modules/${name}" else "${from}/node_modules/${name}";
      folders = lib.splitString "/node_modules/" from;
      outer = if builtins.length folders == 1 then "" else lib.concatStringsSep "/node_modules/" (lib.init folders);
    in
    if packageLock.packages ? ${path} then
      path
    else if from == "" then
      null
    else
      findPackage outer name;

  # What a package depends on, optional packages included. Optional peers are packages of development tools.
  dependenciesOf =
    path:
    let
      entry = packageLock.packages.${path};
      isOptionalPeer = name: ((entry.peerDependenciesMeta or { }).${name} or { }).optional or false;
      peers = lib.filterAttrs (name: _: !(isOptionalPeer name)) (entry.peerDependencies or { });
    in
    builtins.attrNames ((entry.dependencies or { }) // (entry.optionalDependencies or { }) // peers);

  withKey = path: { key = path; };

  programPaths = map (found: found.key) (
    builtins.genericClosure {
      startSet = map (name: withKey (findPackage "" name)) programPackages;
      operator =
        { key }: map withKey (builtins.filter (path: path != null) (map (findPackage key) (dependenciesOf key)));
    }
  );

  isOfPrograms = path: builtins.elem path programPaths;

  isWanted = path: entry: path == "" || !(entry.dev or false) || isNeededToBuild (nameOf path) || isOfPrograms path;

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
      (if isOfPrograms path then removeAttrs entry [ "dev" ] else entry)
      // lib.optionalAttrs (tarballs ? ${path}) { resolved = "file:${tarballs.${path}}"; };

  neededOf = lib.filterAttrs (name: _: isNeededToBuild name);

  # A manifest in which the packages of the programs are dependencies, and nothing is an optional peer.
  withDependencies =
    manifest:
    let
      development = manifest.devDependencies or { };
    in
    removeAttrs manifest [
      "peerDependencies"
      "peerDependenciesMeta"
    ]
    // {
      dependencies =
        (manifest.dependencies or { }) // lib.filterAttrs (name: _: builtins.elem name programPackages) development;
      devDependencies = neededOf development;
    };

  root = withDependencies packageLock.packages."";

  project = withDependencies packageJson;

  lock = packageLock // {
    packages = lib.mapAttrs withSource wanted;
  };
in
runCommand "${packageJson.name}-npm-${packageJson.version}" { passthru = { inherit lock project tarballs; }; } ''
  mkdir $out
  cp ${writeText "package.json" (builtins.toJSON project)} $out/package.json
  cp ${writeText "package-lock.json" (builtins.toJSON lock)} $out/package-lock.json
''
