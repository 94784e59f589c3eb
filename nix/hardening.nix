# What the service may do, as in contrib/systemd/svcd.service; a test compares the two. There is no
# MemoryDenyWriteExecute: V8 compiles at run time.
{
  UMask = "0077";
  NoNewPrivileges = true;
  CapabilityBoundingSet = "";
  AmbientCapabilities = "";
  ProtectSystem = "strict";
  ProtectHome = true;
  PrivateTmp = true;
  PrivateDevices = true;
  PrivateUsers = true;
  ProtectClock = true;
  ProtectControlGroups = true;
  ProtectHostname = true;
  ProtectKernelLogs = true;
  ProtectKernelModules = true;
  ProtectKernelTunables = true;
  ProtectProc = "invisible";
  ProcSubset = "pid";
  RemoveIPC = true;
  RestrictAddressFamilies = "AF_INET AF_INET6 AF_UNIX";
  RestrictNamespaces = true;
  RestrictRealtime = true;
  RestrictSUIDSGID = true;
  LockPersonality = true;
  SystemCallArchitectures = "native";
  SystemCallFilter = [
    "@system-service"
    "~@privileged @resources"
  ];
  SystemCallErrorNumber = "EPERM";
}
