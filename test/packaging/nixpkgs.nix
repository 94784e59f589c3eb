# As much of nixpkgs as flake.nix and nix/ use, so that they can be evaluated without network. Nothing can be built with
# it: a derivation is the attributes that it was made from, with a made-up path.
let
  asDerivation = args: args // { type = "derivation"; outPath = "/nix/store/${args.name or "${args.pname}-${args.version}"}"; };

  program = name: asDerivation { inherit name; };

  option = type: { inherit type; };

  lib = rec {
    inherit (builtins)
      concatStringsSep
      elem
      filter
      replaceStrings
      ;
    attrNames = builtins.attrNames;
    concatMap = builtins.concatMap;
    mapAttrs = builtins.mapAttrs;
    genAttrs = names: make: builtins.listToAttrs (map (name: { inherit name; value = make name; }) names);
    filterAttrs = keep: set:
      builtins.listToAttrs (
        concatMap (name: if keep name set.${name} then [ { inherit name; value = set.${name}; } ] else [ ]) (attrNames set)
      );
    optionalAttrs = condition: set: if condition then set else { };
    optionalString = condition: text: if condition then text else "";
    last = list: builtins.elemAt list (builtins.length list - 1);
    init = list: builtins.genList (builtins.elemAt list) (builtins.length list - 1);
    splitString = separator: text:
      let
        escaped = replaceStrings [ "." "/" ] [ "[.]" "/" ] separator;
      in
      filter builtins.isString (builtins.split escaped text);
    hasPrefix = prefix: text: builtins.substring 0 (builtins.stringLength prefix) text == prefix;
    removePrefix = prefix: text:
      if hasPrefix prefix text then
        builtins.substring (builtins.stringLength prefix) (builtins.stringLength text) text
      else
        text;
    toInt = builtins.fromJSON;
    escapeShellArg = text: "'${replaceStrings [ "'" ] [ "'\\''" ] text}'";
    importJSON = path: builtins.fromJSON (builtins.readFile path);
    getDev = package: package.dev or package;
    getExe' = package: name: "${package}/bin/${name}";
    licenses.mit = "mit";
    fetchers.proxyImpureEnvVars = [ "https_proxy" ];
    fileset = {
      # Paths are looked at, so that one that is missing fails here as it would there.
      unions = map (path: assert builtins.pathExists path; toString path);
      toSource = { root, fileset }: builtins.seq (builtins.length fileset) (builtins.deepSeq fileset "/nix/store/source");
    };

    # The module system: a module is evaluated alone, with the definitions of a user.
    mkIf = condition: content: { inherit condition content; _type = "if"; };
    mkOption = attributes: attributes // { _type = "option"; };
    mkEnableOption = description: mkOption { inherit description; type = types.bool; default = false; };
    literalExpression = text: text;
    types = {
      bool = option builtins.isBool;
      package = option (value: value.type or "" == "derivation");
      attrs = option builtins.isAttrs;
      enum = values: option (value: elem value values);
      str = option builtins.isString;
      strMatching = pattern: option (value: builtins.isString value && builtins.match pattern value != null);
      nullOr = other: option (value: value == null || other.type value);
    };

    evalModule = module: pkgs: definitions:
      let
        chosen = path: set: defined: defaults:
          mapAttrs (
            name: entry:
            let
              value = defined.${name} or (entry.default or (throw "${path}${name} is not set"));
              forced = defaults.${name} or { };
            in
            if entry._type or "" != "option" then
              chosen "${path}${name}." entry (defined.${name} or { }) forced
            else if !(entry.type.type value) then
              throw "${path}${name} has the wrong type"
            else if builtins.isAttrs value && value.type or "" != "derivation" then
              value // forced
            else
              value
          ) set;
        evaluated = module { inherit config lib pkgs; };
        services = chosen "services.svcd." evaluated.options.services.svcd definitions (
          evaluated.config.content.services.svcd or { }
        );
        config.services.svcd = services;
        unwrapped = value:
          if value._type or "" == "if" then (if value.condition then value.content else null) else value;
        enabled = unwrapped evaluated.config;
      in
      {
        inherit (services) settings;
        failures =
          if enabled == null then [ ] else map (one: one.message) (filter (one: !one.assertion) enabled.assertions);
        unit = if enabled == null then null else enabled.systemd.services.svcd;
        ports = if enabled == null then null else unwrapped enabled.networking.firewall.allowedTCPPorts;
        rules = if enabled == null then null else unwrapped enabled.systemd.tmpfiles.rules;
      };
  };

  packagesFor = system:
    let
      platform = {
        inherit system;
        isLinux = builtins.match ".*-linux" system != null;
        isDarwin = builtins.match ".*-darwin" system != null;
        isAarch64 = builtins.match "aarch64-.*" system != null;
      };
      stdenv = {
        hostPlatform = platform;
        mkDerivation = args: asDerivation args // args.passthru or { };
      };
      pkgs = {
        inherit lib stdenv;
        stdenvNoCC = stdenv;
        nodejs_24 = program "nodejs";
        python3 = program "python3";
        gnumake = program "gnumake";
        sqlite = program "sqlite";
        prometheus = program "prometheus";
        coreutils = program "coreutils";
        makeWrapper = program "make-wrapper";
        cacert = program "cacert";
        writeText = name: text: asDerivation { inherit name text; };
        runCommand = name: args: script: asDerivation { inherit name script; } // args.passthru or { };
        mkShell = args: asDerivation (args // { name = "shell"; });
        testers.runNixOSTest = asDerivation;
        formats.toml = _: {
          type = lib.types.attrs;
          generate = name: value: asDerivation { inherit name value; };
        };
        callPackage = file: args:
          let
            make = import file;
          in
          make (builtins.intersectAttrs (builtins.functionArgs make) (pkgs // args));
      };
    in
    pkgs;
in
{
  inherit lib;
  legacyPackages = lib.genAttrs [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ] packagesFor;
}
