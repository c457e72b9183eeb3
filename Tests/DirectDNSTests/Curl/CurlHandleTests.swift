// SPDX-License-Identifier: Apache-2.0
import CDirectDNSCurl
import Testing

@testable import DirectDNS

struct CurlHandleTests {
  private final class Owner {}

  @Test func `a handle leads back to its owner, until it is reset, and to nobody of another kind`() throws {
    let handle = try #require(CurlHandle())
    #expect(unsafe CurlHandle.owner(of: handle.pointer, as: Owner.self) == nil)
    let owner = Owner()
    handle.setOwner(owner)
    #expect(unsafe CurlHandle.owner(of: handle.pointer, as: Owner.self) === owner)
    handle.reset()
    #expect(unsafe CurlHandle.owner(of: handle.pointer, as: Owner.self) == nil)
  }

  @Test func `renewed, it has no options, and has begun no transfer`() throws {
    let handle = try #require(CurlHandle())
    let owner = Owner()
    handle.setOwner(owner)
    #expect(handle.canBeginHTTP1)
    handle.begins()
    // What a handle's only transfer brings is appended to nothing.
    #expect(handle.canReceive(overPlainHTTP2: false))
    #expect(handle.canBeginHTTP1 == CurlVersion.forgetsFields)
    handle.begins()
    #expect(handle.canReceive(overPlainHTTP2: false) == CurlVersion.forgetsFields)
    #expect(handle.canReceive(overPlainHTTP2: true))
    #expect(handle.renew())
    #expect(unsafe CurlHandle.owner(of: handle.pointer, as: Owner.self) == nil)
    #expect(handle.canBeginHTTP1)
  }

  @Test func `it says in libcurl's words why a transfer failed, once that is its owner's`() throws {
    let handle = try #require(CurlHandle())
    let owner = Owner()
    handle.setOwner(owner)
    handle.set(CURLOPT_URL, "gopherx://a.test/")
    #expect(unsafe curl_easy_perform(handle.pointer) == CURLE_UNSUPPORTED_PROTOCOL)
    #expect(handle.failureText.contains("gopherx"))
    handle.forgetFailure()
    #expect(handle.failureText == "")
  }

  @Test func `a handle lacks an option whose list has no memory for a string, until it is reset`() throws {
    let handle = try #require(CurlHandle())
    var list = CurlList(["a: b"])
    handle.set(CURLOPT_HTTPHEADER, list)
    #expect(!handle.lacksOption)
    unsafe list.take(nil)
    handle.set(CURLOPT_HTTPHEADER, list)
    #expect(handle.lacksOption)
    handle.reset()
    #expect(!handle.lacksOption)
  }

  @Test func `a handle that has sent nothing has nothing to tell`() throws {
    let handle = try #require(CurlHandle())
    handle.setBody([])
    handle.setBody([1, 2, 3])
    #expect(handle.number(CURLINFO_RESPONSE_CODE) == 0)
    #expect(handle.time(CURLINFO_TOTAL_TIME_T) == .zero && handle.offset(CURLINFO_SIZE_UPLOAD_T) == 0)
    #expect(handle.text(CURLINFO_PRIMARY_IP) ?? "" == "")
  }

  @Test func `a callback without a context calls nobody`() {
    let context: UnsafeMutableRawPointer? = nil
    #expect(unsafe context.object(Owner.self) == nil)
    #expect(unsafe context.call(Owner.self) { _ in true } == nil)
  }
}
