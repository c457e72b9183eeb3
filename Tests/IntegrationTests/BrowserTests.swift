// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSTesting
import Foundation
import Testing

/// Real browsers behind `dnsctl exec`, and DNS that dies or lies under their pages.
@Suite("Browsers", .timeLimit(.minutes(3)))
struct BrowserTests {
  private func play(
    _ browser: BrowserKind, _ scheme: BrowserScheme, ttl: UInt32 = 0, warm: [String] = [], _ script: String,
    step: @escaping @Sendable (String, BrowserFixture) async -> Void = { _, _ in }
  ) async throws -> (told: String, fixture: BrowserFixture) {
    if let missing = await browser.missing { try Test.cancel("\(missing)") }
    return try await BrowserFixture.play(browser, scheme, ttl: ttl, warm: warm, script, step: step)
  }

  @Test(arguments: BrowserKind.allCases, BrowserScheme.allCases)
  func `a page goes on by expired answers when the provider has died`(
    _ browser: BrowserKind, _ scheme: BrowserScheme
  ) async throws {
    let script = """
      await step('die')
      await pause(1500)
      return await (await fetch('/where')).text()
      """
    let (told, _) = try await play(browser, scheme, ttl: 1, script) { _, fixture in await fixture.provider.stop() }
    #expect(told == "\"127.0.0.2\"")
  }

  @Test(arguments: BrowserKind.allCases, BrowserScheme.allCases)
  func `a page goes on by another address when its own has died`(
    _ browser: BrowserKind, _ scheme: BrowserScheme
  ) async throws {
    let script = """
      const before = await (await fetch('/where')).text()
      await step(before)
      return [before, await (await fetch('/where')).text()]
      """
    let (told, _) = try await play(browser, scheme, ttl: 0, "await step('two'); \(script)") { name, fixture in
      if name == "two" {
        fixture.point([BrowserFixture.shop: ["127.0.0.2", "127.0.0.3"]], ttl: 300)
      } else {
        await fixture.sites[name == "127.0.0.2" ? 0 : 1].stop()
      }
    }
    #expect([#"["127.0.0.2","127.0.0.3"]"#, #"["127.0.0.3","127.0.0.2"]"#].contains(told), "\(told)")
  }

  @Test(arguments: BrowserKind.allCases, BrowserScheme.allCases)
  func `a name that points inside is reached in no way`(
    _ browser: BrowserKind, _ scheme: BrowserScheme
  ) async throws {
    let script = """
      await step('names')
      const told = {}
      for (const name of ['loop.test', 'cloud.test']) {
        const image = new Image()
        const seen = new Promise(done => { image.onload = () => done('loaded'); image.onerror = () => done('refused') })
        image.src = site(name) + '/'
        const socket = new WebSocket(site(name).replace('http', 'ws') + '/')
        const spoken = new Promise(done => { socket.onopen = () => done('open'); socket.onerror = () => done('refused') })
        const read = fetch(site(name) + '/').then(response => response.text(), () => 'refused')
        const frame = document.body.appendChild(document.createElement('iframe'))
        const framed = new Promise(done => { frame.onload = done })
        frame.src = site(name) + '/'
        await Promise.race([framed, pause(\(Self.unloaded))])
        told[name] = [await seen, await spoken, await read]
      }
      return told
      """
    let (told, fixture) = try await play(browser, scheme, script) { _, fixture in
      fixture.point(["loop.test": ["127.0.0.1"], "cloud.test": ["169.254.169.254"]], ttl: 300)
    }
    let refused = #"["refused","refused","refused"]"#
    #expect(told == #"{"loop.test":\#(refused),"cloud.test":\#(refused)}"#)
    #expect(fixture.inside.connectionCount == 0)
    let names = Set(fixture.provider.requests.compactMap(\.name))
    #expect(names.isSuperset(of: ["loop.test", "cloud.test"]))
  }

  /// Milliseconds for a frame whose tunnel is refused: in WebKitGTK it never says that it has loaded something else.
  private static let unloaded = 1500

  private static let targets = ["127.0.0.1", "169.254.169.254", "0.0.0.0"]

  /// Points the page's own name inside: what it reads then, what of it acts, and what has become of its cookie.
  private static let rebound = """
    document.cookie = 'mine=1'
    await step('rebind')
    const response = await fetch('/where').catch(() => null)
    const frame = document.body.appendChild(document.createElement('iframe'))
    const framed = new Promise(done => { frame.onload = done })
    frame.src = '/where'
    await Promise.race([framed, pause(\(unloaded))])
    const page = frame.contentDocument
    const active = 'script, link, a, form, img, iframe, object, meta[http-equiv]'
    const told = { status: response && response.status, cookie: document.cookie }
    told.body = response && (await response.text()).length > 0
    told.active = page && page.querySelectorAll(active).length
    """

  @Test(arguments: BrowserKind.allCases, targets)
  func `a page whose name is pointed inside reads a refusal that does nothing`(
    _ browser: BrowserKind, _ target: String
  ) async throws {
    // The refusal runs as the page's own site: it may hold nothing that acts.
    let script = """
      \(Self.rebound)
      return [told.status, response.headers.get('proxy-status') !== null, told.active, told.cookie]
      """
    let (told, fixture) = try await play(browser, .http, script) { _, fixture in
      fixture.point([BrowserFixture.shop: [target]], ttl: 0)
    }
    #expect(told == #"[403,true,0,"mine=1"]"#)
    #expect(fixture.inside.connectionCount == 0)
  }

  @Test(arguments: BrowserKind.allCases, targets)
  func `an https page whose name is pointed inside has nothing to read`(
    _ browser: BrowserKind, _ target: String
  ) async throws {
    // The tunnel is refused. WebKitGTK makes a response of that, and a page: the site's own, and empty.
    let script = "\(Self.rebound)\nreturn [told.status, told.body, told.active, told.cookie]"
    let (told, fixture) = try await play(browser, .https, script) { _, fixture in
      fixture.point([BrowserFixture.shop: [target]], ttl: 0)
    }
    #expect(told == (browser == .chromium ? #"[null,null,null,"mine=1"]"# : #"[403,false,0,"mine=1"]"#))
    #expect(fixture.inside.connectionCount == 0)
  }

  @Test(arguments: BrowserKind.allCases)
  func `a page stays when it leads to a download`(_ browser: BrowserKind) async throws {
    // The engine calls it a load that failed.
    let script = """
      location = '/download'
      await pause(1500)
      return location.pathname
      """
    let (told, _) = try await play(browser, .http, script)
    #expect(told == "\"/\"")
  }

  @Test(arguments: BrowserKind.allCases, BrowserScheme.allCases)
  func `a form with a file, a Blob and a redirect with a cookie arrive whole while DNS is dead`(
    _ browser: BrowserKind, _ scheme: BrowserScheme
  ) async throws {
    // The names of the API were never needed before: WebKit's example has warmed them, Chromium's page looks them up.
    let script = """
      \(browser == .chromium ? "await fetch(site('api.test') + '/where')" : "")
      await step('die')
      await pause(1500)
      const bytes = Uint8Array.from({ length: 1 << 20 }, (_, index) => index % 251)
      const digest = await (await fetch(site('api.test') + '/digest', { method: 'POST', body: new Blob([bytes]) })).text()
      const form = document.body.appendChild(document.createElement('form'))
      form.method = 'POST'
      form.enctype = 'multipart/form-data'
      form.action = '/form'
      form.target = 'answer'
      const input = form.appendChild(document.createElement('input'))
      input.type = 'file'
      input.name = 'upload'
      const files = new DataTransfer()
      files.items.add(new File(['ünï\\n'.repeat(3)], 'note.txt', { type: 'text/plain' }))
      input.files = files.files
      const frame = document.createElement('iframe')
      frame.name = 'answer'
      document.body.appendChild(frame)
      const answered = new Promise(done => { frame.onload = () => { if (frame.contentDocument.URL.endsWith('/form')) done() } })
      form.submit()
      await answered
      const posted = frame.contentDocument.body.textContent
      const parts = ['name="upload"', 'filename="note.txt"', 'ünï\\nünï\\nünï\\n'].map(part => posted.includes(part))
      const welcome = await (await fetch('/login')).text()
      return [digest, ...parts, welcome]
      """
    let (told, _) = try await play(browser, scheme, ttl: 1, warm: ["api.test"], script) { _, fixture in
      await fixture.provider.stop()
    }
    let blob = try ServerFixture.newFolder("blob").appending(path: "bytes")
    try Data((0..<1 << 20).map { UInt8($0 % 251) }).write(to: blob)
    let sum = try await ServerFixture.run("sha256sum", [blob.path]).output
    let digest = String(decoding: sum, as: UTF8.self).prefix(64)
    #expect(told == #"["1048576 \#(digest)",true,true,true,"session=1"]"#)
  }
}
