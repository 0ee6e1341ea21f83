"""From the frame to the answer's bytes, past decoder, handler and encoder: for requests that come every day."""
