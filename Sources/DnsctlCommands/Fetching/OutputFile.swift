// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A file for a response's body, written so that a transfer that fails loses nothing.
///
/// A new file is written at its place, where an incomplete one stays, unless it is to appear only when complete. An
/// existing file is replaced once the new one is complete, which is a draft beside it until then. Both can be
/// continued. What cannot be replaced without changing more than its contents is written in place: a device, a FIFO, a
/// link, a file that is mounted by itself, has several names or another owner; if it is to appear only when complete,
/// not before that.
final class OutputFile {
  /// What an earlier transfer has left.
  struct Beginning: Sendable, Hashable {
    var length: Int64
    /// What was known when it began; nil if that was not stored.
    var record: ResumeRecord?
  }

  private enum State {
    case closed
    /// Written from its beginning.
    case anew(WritableFile, isDraft: Bool)
    case continued(WritableFile, isDraft: Bool)
    /// Kept here until it is complete: the file is written over, and would be neither the old one nor the new one.
    case gathered([UInt8])
  }

  /// Where it is.
  let path: String
  private let draftPath: String
  private let isAtomic: Bool
  private var state = State.closed

  /// Creates it; nothing is opened yet.
  ///
  /// - Parameters:
  ///   - path: where it is.
  ///   - isAtomic: whether a new file, too, is a draft until it is complete: for files that nobody continues, and
  ///     that would look complete if they ended in the middle.
  init(_ path: String, isAtomic: Bool = false) {
    self.path = path
    self.isAtomic = isAtomic
    let ending = ".dnsctl-part"
    // A draft that is continued is found by its whole name alone.
    draftPath = isAtomic ? WritableFile.draftPath(of: path, ending: ending) : path + ending
  }

  /// Prepares to append to the draft or to the file itself; nil if there is nothing to continue.
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

  /// Prepares to write the file from its beginning; the old one stays until ``finish()``.
  ///
  /// - Parameter record: what is stored with the file until it is complete.
  /// - Throws: why it cannot be written.
  func openAnew(_ record: ResumeRecord? = nil) throws(StreamError) {
    do throws(FileFailure) {
      let file: WritableFile
      switch state {
      case .anew(let own, _):
        file = own
        try file.startOver()
      case .closed, .continued, .gathered:
        state = .closed
        if let (new, isDraft) = try replacement() {
          file = new
          state = .anew(file, isDraft: isDraft)
        } else if isAtomic {
          // Where it leads to nothing, there is nothing to lose either.
          if FileStamp(of: path) != nil { try WritableFile.check(path) }
          state = .gathered([])
          return
        } else {
          file = try inPlace()
          state = .anew(file, isDraft: false)
        }
      }
      file.note = record?.text
    } catch { throw StreamError(error) }
  }

  /// A new file, which is put in its place or is there already; nil if what is there has to be written over.
  private func replacement() throws(FileFailure) -> (WritableFile, isDraft: Bool)? {
    let place = try PathTarget(path)
    // An older draft would be taken for this file's.
    unsafe unlink(draftPath)
    switch place {
    case .missing:
      let name = isAtomic ? draftPath : path
      return (try .new(name, mode: WritableFile.ordinaryMode), isAtomic)
    case .file(let rights, hasOtherNames: false) where rights.isOurs:
      do throws(FileFailure) {
        // A file that its owner has protected is not replaced.
        try WritableFile.check(path)
        return (try .draft(draftPath, inPlaceOf: rights), true)
      } catch {
        // No file can be made in the folder, but the file itself may be writable.
        guard error.forbidsNewFiles else { throw error }
      }
    case .file, .inPlace: break
    }
    return nil
  }

  private func inPlace() throws(FileFailure) -> WritableFile {
    try .inPlace(path, isLink: PathTarget(path) == .inPlace(isLink: true), isPrivate: false)
  }

  /// Whether what was written can be dropped for another try.
  var canStartOver: Bool {
    if case .anew(let file, _) = state { file.length != nil } else { true }
  }

  /// Gives up, and removes a draft.
  func discard() {
    if case .anew(let file, isDraft: true) = state { file.remove() }
    state = .closed
  }

  func write(_ bytes: [UInt8]) throws(StreamError) {
    switch state {
    case .closed: throw .failed("it is not open")
    case .gathered(var kept):
      // Let go of first, or it would be copied for each piece.
      state = .closed
      kept += bytes
      state = .gathered(kept)
    case .anew(let file, _), .continued(let file, _):
      do throws(FileFailure) { try file.write(bytes) } catch { throw StreamError(error) }
    }
  }

  /// The file is complete: puts it in its place.
  func finish() throws(StreamError) {
    switch state {
    case .closed: return
    case .gathered(let bytes):
      state = .closed
      do throws(FileFailure) {
        let file = try inPlace()
        try file.write(bytes)
        try file.end()
      } catch { throw StreamError(error) }
    case .anew(let file, let isDraft), .continued(let file, let isDraft):
      state = .closed
      file.note = nil
      do throws(FileFailure) { isDraft ? try file.end(inPlaceOf: path) : try file.end() } catch {
        // Nobody continues it.
        if isAtomic { file.remove() }
        throw StreamError(error)
      }
    }
  }
}

extension StreamError {
  init(_ failure: FileFailure) { self = failure.isClosedPipe ? .closedPipe : .failed(failure.reason) }
}
