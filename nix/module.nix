# NixOS: svcd as a service. See docs/operations.md.
{ self }:
{
  config,
  lib,
  pkgs,
  ...
}:
let
  inherit (lib) mkIf mkOption types;
  cfg = config.services.svcd;
  toml = pkgs.formats.toml { };
  configFile = toml.generate "svcd.conf" cfg.settings;
  configPath = "${cfg.dataDir}/svcd.conf";

  portOf = address: lib.toInt (lib.last (lib.splitString ":" address));
  hostOf = address: lib.concatStringsSep ":" (lib.init (lib.splitString ":" address));
  isLoopback = address: builtins.elem (hostOf address) [ "[::1]" "localhost" ] || lib.hasPrefix "127." address;

  # svcd asks for credentials wherever other machines can reach it; without a password it makes a cookie.
  hasCookie = (cfg.settings.rpccookiefile or ".cookie") != "";
  hasHashedUser = (cfg.settings.rpcauth or [ ]) != [ ];

  underVarLib = lib.hasPrefix "/var/lib/" cfg.dataDir;
  calls = cfg.settings.maxpeers or 125 != 0;
in
{
  options.services.svcd = {
    enable = lib.mkEnableOption "svcd, a Namecoin full node";

    package = mkOption {
      type = types.package;
      default = self.packages.${pkgs.stdenv.hostPlatform.system}.svcd;
      defaultText = lib.literalExpression "svcd.packages.\${system}.svcd";
      description = "The package to run.";
    };

    network = mkOption {
      type = types.enum [
        "mainnet"
        "testnet"
        "regtest"
      ];
      default = "mainnet";
      description = "The network to join.";
    };

    dataDir = mkOption {
      type = types.strMatching "/.*[^/]";
      default = "/var/lib/svcd";
      description = "The data directory: blocks, names and wallets. It is made with mode 0700.";
    };

    listen = mkOption {
      type = types.nullOr (types.strMatching ".*:[0-9]+");
      default = ":8334";
      description = "Where peers can call, as host:port; null for nowhere.";
    };

    memoryMax = mkOption {
      type = types.str;
      default = "4G";
      example = "infinity";
      description = ''
        Memory beyond which the system ends svcd and starts it again (MemoryMax of systemd). Raise it with
        `settings.dbcache` and `settings.maxmempool`.
      '';
    };

    openFirewall = mkOption {
      type = types.bool;
      default = false;
      description = "Whether to open the port of `listen`. The ports of RPC and metrics stay closed.";
    };

    metricsAddress = mkOption {
      type = types.nullOr (types.strMatching ".*:[0-9]+");
      default = null;
      example = "127.0.0.1:9332";
      description = "Where metrics are served for Prometheus, without credentials; null for nowhere.";
    };

    rpc = {
      address = mkOption {
        type = types.strMatching ".*:[0-9]+";
        default = "127.0.0.1:8336";
        description = ''
          Where JSON-RPC is served. Where other machines can reach it, callers need credentials: `user` and
          `passwordFile`, users of `settings.rpcauth`, or those of the file `.cookie` in the data directory, which
          svcd makes at each start if there is no password. `settings.rpccookie = true` asks for the cookie on
          loopback too, and `settings.rpccookieperms = "group"` lets the group svcd read it.
        '';
      };

      user = mkOption {
        type = types.nullOr (types.strMatching "[^:]+");
        default = null;
        description = "User name that RPC asks for. Goes with `passwordFile`.";
      };

      passwordFile = mkOption {
        type = types.nullOr (types.strMatching "/.+");
        default = null;
        example = "/run/secrets/svcd-rpc-password";
        description = ''
          File with the password that RPC asks for. systemd reads it as root and hands it to svcd; it comes neither
          into the Nix store nor into a command line.
        '';
      };
    };

    alertMailServerFile = mkOption {
      type = types.nullOr (types.strMatching "/.+");
      default = null;
      example = "/run/secrets/svcd-alertmail-server";
      description = ''
        File with the value of `alertmailserver`, which holds a password. systemd reads it as root and hands it to
        svcd, as `rpc.passwordFile`.
      '';
    };

    dnsTsigFile = mkOption {
      type = types.nullOr (types.strMatching "/.+");
      default = null;
      example = "/run/secrets/svcd-dnstsig.toml";
      description = ''
        File with the line `dnstsig = ["NAME:ALGORITHM:SECRET"]`, which holds secrets (docs/dns.md), and nothing else.
        systemd reads it as root; svcd gets a copy of its configuration with it, which only svcd can read.
      '';
    };

    webhooksFile = mkOption {
      type = types.nullOr (types.strMatching "/.+");
      default = null;
      example = "/run/secrets/svcd-webhooks.toml";
      description = ''
        File with tables `[[webhook]]`, which hold secrets (docs/webhooks.md), and nothing else. systemd reads it as
        root; svcd gets a copy of its configuration with it, which only svcd can read.
      '';
    };

    settings = mkOption {
      type = toml.type;
      default = { };
      example = lib.literalExpression ''
        {
          txindex = true;
          dbcache = 1000;
          logformat = "json";
          database.pagesize = 16384;
        }
      '';
      description = ''
        Anything else of svcd.conf; docs/configuration.md lists the keys. Every user can read the Nix store: no
        password belongs here.
      '';
    };
  };

  config = mkIf cfg.enable {
    assertions = [
      {
        assertion = (cfg.rpc.user == null) == (cfg.rpc.passwordFile == null);
        message = "services.svcd.rpc: user and passwordFile go together.";
      }
      {
        assertion =
          cfg.rpc.user != null
          || hasCookie
          || hasHashedUser
          || isLoopback cfg.rpc.address
          || cfg.settings.rpcallowinsecure or false;
        message =
          "services.svcd.rpc: other machines can reach ${cfg.rpc.address}, and settings.rpccookiefile is empty, "
          + "so it needs user and passwordFile.";
      }
      {
        assertion = !(cfg.settings ? rpcpassword);
        message = "services.svcd.settings.rpcpassword would be in the Nix store: use services.svcd.rpc.passwordFile.";
      }
      {
        assertion = !(cfg.settings ? alertmailserver);
        message = "services.svcd.settings.alertmailserver would be in the Nix store: use services.svcd.alertMailServerFile.";
      }
      {
        assertion = !(cfg.settings ? webhook);
        message = "services.svcd.settings.webhook would be in the Nix store: use services.svcd.webhooksFile.";
      }
      {
        assertion = !(cfg.settings ? dnstsig);
        message =
          "services.svcd.settings.dnstsig would be in the Nix store: use services.svcd.dnsTsigFile.";
      }
      {
        assertion = !(cfg.settings ? datadir);
        message = "services.svcd.settings.datadir: use services.svcd.dataDir.";
      }
    ];

    services.svcd.settings =
      {
        network = cfg.network;
        rpcaddr = cfg.rpc.address;
        listen = if cfg.listen == null then "" else cfg.listen;
      }
      // lib.optionalAttrs (cfg.rpc.user != null) { rpcuser = cfg.rpc.user; }
      // lib.optionalAttrs (cfg.metricsAddress != null) { metricsaddr = cfg.metricsAddress; };

    users.users.svcd = {
      isSystemUser = true;
      group = "svcd";
      home = cfg.dataDir;
      description = "svcd";
    };
    users.groups.svcd = { };

    environment.systemPackages = [ cfg.package ];

    networking.firewall.allowedTCPPorts = mkIf (cfg.openFirewall && cfg.listen != null && calls) [
      (portOf cfg.listen)
    ];

    systemd.tmpfiles.rules = mkIf (!underVarLib) [ "d ${cfg.dataDir} 0700 svcd svcd -" ];

    systemd.services.svcd = {
      description = "Namecoin full node";
      documentation = [ "file:${cfg.package}/share/doc/svcd/operations.md" ];
      wantedBy = [ "multi-user.target" ];
      wants = [ "network-online.target" ];
      after = [ "network-online.target" ];
      restartTriggers = [ configFile ];

      # svcd and svcd-cli find their configuration in the data directory.
      preStart = ''
        if [ -e ${lib.escapeShellArg configPath} ] && [ ! -L ${lib.escapeShellArg configPath} ]; then
          echo "svcd: ${configPath} is in the way: its settings belong into services.svcd.settings" >&2
          exit 2
        fi
        ${
          if cfg.dnsTsigFile == null && cfg.webhooksFile == null then
            ''
              ln -sfn ${configFile} ${lib.escapeShellArg configPath}
              rm -f ${lib.escapeShellArg "${configPath}.whole"}
            ''
          else
            ''
              umask 077
              # TOML wants the keys of the top before the first table.
              {
                ${lib.optionalString (cfg.dnsTsigFile != null) ''cat "$CREDENTIALS_DIRECTORY/dnstsig"; echo''}
                cat ${configFile}
                ${lib.optionalString (cfg.webhooksFile != null) ''cat "$CREDENTIALS_DIRECTORY/webhooks"''}
              } > ${lib.escapeShellArg "${configPath}.whole"}
              ln -sfn ${lib.escapeShellArg "${configPath}.whole"} ${lib.escapeShellArg configPath}
            ''
        }
      '';

      script = ''
        ${lib.optionalString (cfg.rpc.passwordFile != null) ''
          SVCD_RPC_PASSWORD=$(cat "$CREDENTIALS_DIRECTORY/rpcpassword")
          export SVCD_RPC_PASSWORD
        ''}
        ${lib.optionalString (cfg.alertMailServerFile != null) ''
          SVCD_ALERTMAIL_SERVER=$(cat "$CREDENTIALS_DIRECTORY/alertmailserver")
          export SVCD_ALERTMAIL_SERVER
        ''}
        exec ${lib.getExe' cfg.package "svcd"} -datadir ${lib.escapeShellArg cfg.dataDir}
      '';

      serviceConfig =
        import ./hardening.nix
        // {
          Type = "exec";
          User = "svcd";
          Group = "svcd";
          WorkingDirectory = "/";
          ExecReload = "${lib.getExe' pkgs.coreutils "kill"} -HUP $MAINPID";
          Restart = "on-failure";
          RestartSec = 10;
          RestartPreventExitStatus = 2;
          TimeoutStopSec = 120;
          LimitNOFILE = 16384;
          LimitCORE = 0;
          MemoryMax = cfg.memoryMax;
          RuntimeDirectory = "svcd";
          RuntimeDirectoryMode = "0750";
          LogsDirectory = "svcd";
          LogsDirectoryMode = "0750";
          # For the compiled code that svcd keeps for its next start.
          CacheDirectory = "svcd";
          CacheDirectoryMode = "0700";
        }
        // lib.optionalAttrs underVarLib {
          StateDirectory = lib.removePrefix "/var/lib/" cfg.dataDir;
          StateDirectoryMode = "0700";
        }
        // lib.optionalAttrs (!underVarLib) { ReadWritePaths = [ cfg.dataDir ]; }
        // {
          LoadCredential =
            lib.optional (cfg.rpc.passwordFile != null) "rpcpassword:${cfg.rpc.passwordFile}"
            ++ lib.optional (cfg.alertMailServerFile != null) "alertmailserver:${cfg.alertMailServerFile}"
            ++ lib.optional (cfg.dnsTsigFile != null) "dnstsig:${cfg.dnsTsigFile}"
            ++ lib.optional (cfg.webhooksFile != null) "webhooks:${cfg.webhooksFile}";
        };
    };
  };
}
