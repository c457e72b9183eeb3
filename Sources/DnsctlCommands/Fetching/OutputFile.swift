// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A file that a response's body goes into, in such a way that a transfer that fails loses nothing.
///
/// A new file is written where it belongs, and what came stays there, unless it is to appear whole. A file that was there stays as it is until the new
/// one is whole, which lies beside it until then. Both can be gone on with. What another cannot take the place of without
/// changing more than its contents is written as it stands: a device, a FIFO, a link, a file of several names or of
/// another owner.
final class OutputFile {
  /// What is there of an earlier transfer.
  struct Beginning: Sendable, Hashable {
    var length: Int64
    /// What was known when it began; nil where it was not kept.
    var record: ResumeRecord?
  }

  private enum State {
    case closed
    /// Written from its beginning on.
    case anew(WritableFile, isDraft: Bool)
    case continued(WritableFile, isDraft: Bool)
  }

  /// Where it is.
  let path: String
  private let draftPath: String
  private let appearsWhole: Bool
  private var state = State.closed

  /// Nothing is opened yet.
  ///
  /// - Parameters:
  ///   - path: where it is.
  ///   - appearsWhole: whether a new file, too, lies beside its place until it is whole: for what nobody goes on with, and
  ///     what could be taken for the whole when it ends in the middle.
  init(_ path: String, appearsWhole: Bool = false) {
    self.path = path
    self.appearsWhole = appearsWhole
    draftPath = path + ".dnsctl-part"
  }

  /// Gets ready to write behind what is there, the draft's bytes or the file's own; nil if there are none.
  func openToContinue() throws(StreamError) -> Beginning? {
    state = .closed
    do throws(FileFailure) {
      let draft = try WritableFile.draftToContinue(draftPath)
      let own = draft == nil ? try WritableFile.toContinue(path) : nil
      guard let file = draft ?? own, let length = file.length, length > 0 else { return nil }
      state = .continued(file, isDraft: draft != nil)
      return Beginning(length: length, record: file.note.flatMap(ResumeRecord.init))
    } catch { throw StreamError(error) }
  }

  /// Gets ready to write the file anew; nothing of it is lost before ``finish()``.
  ///
  /// - Parameter record: what is kept with the file until it is whole.
  /// - Throws: why it cannot be written.
  func openAnew(_ record: ResumeRecord? = nil) throws(StreamError) {
    do throws(FileFailure) {
      let file: WritableFile
      if case .anew(let own, _) = state {
        file = own
        try file.startOver()
      } else {
        state = .closed
        let isDraft: Bool
        (file, isDraft) = try opened()
        state = .anew(file, isDraft: isDraft)
      }
      file.note = record?.text
    } catch { throw StreamError(error) }
  }

  private func opened() throws(FileFailure) -> (WritableFile, isDraft: Bool) {
    let place = try FilePlace(path)
    // A draft of another time would be taken for this file's.
    unsafe unlink(draftPath)
    switch place {
    case .free:
      let name = appearsWhole ? draftPath : path
      return (try .new(name, mode: WritableFile.ordinaryMode), appearsWhole)
    case .file(let rights, hasOtherNames: false) where rights.isOurs:
      do throws(FileFailure) {
        // What its owner has protected is not to be replaced.
        try WritableFile.check(path)
        return (try .draft(draftPath, inPlaceOf: rights), true)
      } catch {
        // A folder in which no file can be made: the file itself may be writable all the same.
        guard error.forbidsNewFiles else { throw error }
      }
    case .file, .through: break
    }
    return (try .through(path, isLink: place == .through(isLink: true), isPrivate: false), false)
  }

  /// Whether what was written can be dropped for another try.
  var canStartOver: Bool {
    if case .anew(let file, _) = state { file.length != nil } else { true }
  }

  /// Gives up: a draft goes.
  func discard() {
    if case .anew(let file, isDraft: true) = state { file.remove() }
    state = .closed
  }

  func write(_ bytes: [UInt8]) throws(StreamError) {
    switch state {
    case .closed: throw .failed("it is not open")
    case .anew(let file, _), .continued(let file, _):
      do throws(FileFailure) { try file.write(bytes) } catch { throw StreamError(error) }
    }
  }

  /// The file is whole: puts it in its place.
  func finish() throws(StreamError) {
    switch state {
    case .closed: return
    case .anew(let file, let isDraft), .continued(let file, let isDraft):
      state = .closed
      file.note = nil
      do throws(FileFailure) { isDraft ? try file.end(inPlaceOf: path) : try file.end() } catch {
        throw StreamError(error)
      }
    }
  }
}

extension StreamError {
  init(_ failure: FileFailure) { self = failure.isClosedPipe ? .closedPipe : .failed(failure.reason) }
}
