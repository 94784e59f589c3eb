# svcd, svcd-cli, svcd-wallet, svcd-mail and svcd-export, built from source without network: SQLite and libsecp256k1 included.
{
  lib,
  stdenv,
  callPackage,
  makeWrapper,
  nodejs_24,
  python3,
}:
let
  nodejs = nodejs_24;
  packageJson = lib.importJSON ../package.json;

  npmPackages = callPackage ./npm-packages.nix {
    inherit nodejs packageJson;
    packageLock = lib.importJSON ../package-lock.json;
    # The compiler, types of what is written in JavaScript, and what these need.
    isNeededToBuild =
      name:
      builtins.elem name [
        "@types/better-sqlite3"
        "@types/node"
        "@types/pg"
        "@types/pg-copy-streams"
        "@types/secp256k1"
        "typescript"
        "undici-types"
      ];
    # What src imports, and the peers of it.
    programPackages = [
      "@effect/cli"
      "@effect/cluster"
      "@effect/experimental"
      "@effect/platform"
      "@effect/platform-node"
      "@effect/printer"
      "@effect/printer-ansi"
      "@effect/rpc"
      "@effect/sql"
      "@effect/sql-pg"
      "@effect/sql-sqlite-node"
      "@effect/typeclass"
      "@effect/workflow"
      "@noble/ciphers"
      "@noble/curves"
      "@noble/hashes"
      "@scure/base"
      "@scure/bip32"
      "@scure/bip39"
      "effect"
      "nodemailer"
      "pg"
      "pg-copy-streams"
      "qr"
      "re2js"
      "secp256k1"
      "smol-toml"
      "smtp-server"
    ];
  };
in
stdenv.mkDerivation {
  pname = packageJson.name;
  inherit (packageJson) version;

  src = lib.fileset.toSource {
    root = ../.;
    fileset = lib.fileset.unions [
      ../CHANGELOG.md
      ../CONTRIBUTING.md
      ../LICENSE
      ../README.md
      ../contrib
      ../docs
      ../package.json
      ../scripts/set-version.mjs
      ../src
      ../tsconfig.json
    ];
  };

  nativeBuildInputs = [
    makeWrapper
    nodejs
    python3
  ];

  env = {
    npm_config_nodedir = "${lib.getDev nodejs}";
    npm_config_build_from_source = "true";
    npm_config_offline = "true";
    npm_config_audit = "false";
    npm_config_fund = "false";
    npm_config_progress = "false";
    npm_config_update_notifier = "false";
  };

  configurePhase = ''
    runHook preConfigure
    export HOME=$TMPDIR
    cp --no-preserve=mode ${npmPackages}/package.json ${npmPackages}/package-lock.json .
    npm ci --omit=optional --ignore-scripts
    patchShebangs node_modules
    npm rebuild secp256k1
    npm explore better-sqlite3 -- npm run build-release
    runHook postConfigure
  '';

  buildPhase = ''
    runHook preBuild
    node scripts/set-version.mjs
    echo '{ "extends": "./tsconfig.json", "include": ["src"] }' > tsconfig.package.json
    node node_modules/typescript/bin/tsc -p tsconfig.package.json
    npm prune --omit=dev --omit=optional --ignore-scripts
    # What was compiled is enough.
    for native in better-sqlite3 secp256k1; do
      rm -rf "node_modules/$native"/{deps,prebuilds,src}
      find "node_modules/$native/build" -type f ! -path '*/build/Release/*.node' -delete
      rm -rf "node_modules/$native/build/Release/obj.target"
    done
    runHook postBuild
  '';

  installPhase = ''
    runHook preInstall
    mkdir -p $out/bin $out/lib/svcd/build $out/share/doc
    cp -r node_modules src $out/lib/svcd
    cp -r build/src $out/lib/svcd/build
    cp ${../package.json} $out/lib/svcd/package.json
    cp -r docs $out/share/doc/svcd
    cp -r contrib $out/share/svcd
    cp README.md CHANGELOG.md CONTRIBUTING.md LICENSE $out/share/doc/svcd
    for program in ${toString (builtins.attrNames packageJson.bin)}; do
      makeWrapper ${nodejs}/bin/node "$out/bin/$program" --add-flags "$out/lib/svcd/build/src/bin/$program.js"
    done
    runHook postInstall
  '';

  doInstallCheck = true;
  installCheckPhase = ''
    runHook preInstallCheck
    for program in $out/bin/*; do "$program" --version | grep -F ${packageJson.version}; done
    (
      cd $out/lib/svcd
      node --input-type=module -e '
        const { default: SQLite } = await import("better-sqlite3")
        new SQLite(":memory:").close()
        await import("secp256k1/bindings.js")
      '
    )
    runHook postInstallCheck
  '';

  passthru = { inherit nodejs npmPackages; };

  meta = {
    inherit (packageJson) description;
    license = lib.licenses.mit;
    mainProgram = "svcd";
    platforms = [
      "x86_64-linux"
      "aarch64-linux"
      "x86_64-darwin"
      "aarch64-darwin"
    ];
  };
}
