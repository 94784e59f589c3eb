# A virtual machine with the service: it starts, answers, asks for its password, keeps to its directory, and stops.
{ self }:
{
  name = "svcd";

  nodes.machine =
    { pkgs, ... }:
    {
      imports = [ self.nixosModules.default ];
      environment.systemPackages = [ pkgs.curl ];
      environment.etc."svcd-password".text = "correct horse";
      services.svcd = {
        enable = true;
        network = "regtest";
        rpc.user = "alice";
        rpc.passwordFile = "/etc/svcd-password";
        settings.maxpeers = 0;
      };
    };

  testScript = ''
    machine.wait_for_unit("svcd.service")
    machine.wait_until_succeeds("curl --fail --silent http://127.0.0.1:8336/health", timeout=60)

    body = '{"jsonrpc":"2.0","id":1,"method":"getblockcount"}'
    ask = f"curl --fail --silent -d '{body}' http://127.0.0.1:8336/"
    machine.fail(ask)
    assert '"result":0' in machine.succeed(ask + " -u 'alice:correct horse'")

    assert machine.succeed("stat -c %a:%U /var/lib/svcd").strip() == "700:svcd"
    machine.fail("grep -r 'correct horse' /nix/store/*svcd.conf")

    machine.systemctl("restart svcd.service")
    machine.wait_until_succeeds("curl --fail --silent http://127.0.0.1:8336/ready", timeout=60)
    machine.systemctl("stop svcd.service")
    machine.fail("systemctl is-failed svcd.service")
  '';
}
