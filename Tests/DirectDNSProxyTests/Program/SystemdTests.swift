// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import dnsctl_proxy

@Suite("What systemd and the proxy tell each other")
struct SystemdTests {
  @Test(
    arguments: [
      (["LISTEN_PID": "7", "LISTEN_FDS": "2"], [3, 4]), (["LISTEN_PID": "7", "LISTEN_FDS": "1"], [3]),
      // Of the process that started this one.
      (["LISTEN_PID": "8", "LISTEN_FDS": "2"], []), (["LISTEN_FDS": "2"], []), ([:], []),
      (["LISTEN_PID": "7", "LISTEN_FDS": "0"], []), (["LISTEN_PID": "7", "LISTEN_FDS": "-1"], []),
      (["LISTEN_PID": "7", "LISTEN_FDS": "2000000000"], []), (["LISTEN_PID": "7", "LISTEN_FDS": "x"], []),
    ] as [([String: String], [Int32])])
  func `sockets are taken that are meant for this process`(environment: [String: String], sockets: [Int32]) {
    #expect(Systemd(environment, process: 7).sockets == sockets)
  }

  @Test(
    arguments: [
      (.ready(status: "proxy at 127.0.0.1:3128"), "READY=1\nSTATUS=proxy at 127.0.0.1:3128"),
      (.ready(status: "a\nMAINPID=1"), "READY=1\nSTATUS=aMAINPID=1"),
      (.reloading(microseconds: 12), "RELOADING=1\nMONOTONIC_USEC=12"), (.stopping, "STOPPING=1"),
    ] as [(Systemd.State, String)])
  func `states are told as sd_notify has them`(state: Systemd.State, text: String) {
    #expect(state.text == text)
  }
}
