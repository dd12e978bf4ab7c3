-- Schema 2. Most documents are short and change with nearly every transition, so they stand in the row itself: one page is
-- written instead of two. Long ones stay apart, where a transition that leaves them alone does not copy them.
ALTER TABLE entity ADD COLUMN body BLOB;  -- the document, if it is short

-- The new name stops processes of an older pawl that have the store open: what they wrote, readers of body would miss.
-- Documents that are here stay until they are written again.
ALTER TABLE doc RENAME TO long_doc;
